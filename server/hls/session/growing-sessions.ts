// Which sessions were ever listed while they grew, kept on disk: their playlists and URLs stay of that kind for good, over
// restarts and renames, and in every process.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { SessionReference } from '../../../shared/paths.ts'
import { writeAtomically } from '../../storage/atomic-write.ts'

const markedBytes = z.object({
  offset: z.int().nonnegative(),
  length: z
    .int()
    .nonnegative()
    .max(64 * 1024),
  hash: z.string(),
})

const growingRecording = z.object({
  /** Raised when other bytes took the place of what was listed. */
  generation: z.int().nonnegative(),
  startHash: z.string(),
  /** Bytes before the end of what was listed, as last noted. */
  tail: markedBytes,
  form: z.enum(['ts', 'fmp4']),
  /** What it was offered with when it was first listed. */
  counts: z.preprocess(
    renameOldCounts,
    z.object({ audioTracks: z.int().nonnegative(), subtitles: z.int().nonnegative() }),
  ),
})

/** A recording as it was listed while it grew. */
export type GrowingRecording = z.infer<typeof growingRecording>

const growingSession = z.object({
  format: z.literal('aftercast-grown-1'),
  session: z.array(z.string()),
  recordings: z.record(z.string(), growingRecording),
})

/** The recordings of a session that were listed while they grew, by name; undefined where the session never was. */
export type GrowingSession = Readonly<Record<string, GrowingRecording>> | undefined

/** Files of version 0.1 name the counts `sounds` and `texts`. */
function renameOldCounts(counts: unknown): unknown {
  if (typeof counts !== 'object' || counts === null || !('sounds' in counts)) return counts
  return { audioTracks: counts.sounds, subtitles: 'texts' in counts ? counts.texts : 0 }
}

const MAX_FILE_BYTES = 4 * 1024 * 1024

export interface GrowingSessionsOptions {
  folder: string
  /** Told when something could not be noted; it is tried again with the next change. */
  onWriteError(error: unknown): void
}

export class GrowingSessions {
  readonly #options: GrowingSessionsOptions
  /** Writes of this process, one after the other. */
  #writing: Promise<void> = Promise.resolve()

  constructor(options: GrowingSessionsOptions) {
    this.#options = options
  }

  /** Read anew each time, for another process may have noted something. */
  async find(session: SessionReference): Promise<GrowingSession> {
    const bytes = await readFile(this.#path(session)).catch(() => undefined)
    if (bytes === undefined || bytes.length > MAX_FILE_BYTES) return undefined
    const parsed = growingSession.safeParse(parseJson(bytes.toString()))
    return parsed.success ? parsed.data.recordings : undefined
  }

  /** Notes recordings beside those that were noted before; none: only that the session was listed while it grew. */
  async note(
    session: SessionReference,
    recordings: Record<string, GrowingRecording>,
  ): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      try {
        const known = await this.find(session)
        const content: z.infer<typeof growingSession> = {
          format: 'aftercast-grown-1',
          session: namesOf(session),
          recordings: { ...known, ...recordings },
        }
        await writeAtomically(this.#path(session), JSON.stringify(content))
      } catch (error) {
        this.#options.onWriteError(error)
      }
    })
    return this.#writing
  }

  #path(session: SessionReference): string {
    const name = createHash('sha256')
      .update(JSON.stringify(namesOf(session)))
      .digest('hex')
    return join(this.#options.folder, name.slice(0, 2), `${name.slice(2)}.json`)
  }
}

function namesOf({ streamer, date, sessionId }: SessionReference): string[] {
  return [streamer, date, sessionId]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not ours, or damaged: as if it were not there.
    return undefined
  }
}

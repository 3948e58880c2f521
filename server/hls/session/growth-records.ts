// Which sessions were ever listed while they were growing, on disk. Their playlists and URLs keep
// that form for ever: after restarts and renames, and in every process.
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
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

const count = z.int().nonnegative()

/** Names of version 0.1, so that either version reads the other's files. */
const AUDIO_KEY = 'sounds'
const SUBTITLES_KEY = 'texts'

const renditionCounts = z.codec(
  z.object({ [AUDIO_KEY]: count, [SUBTITLES_KEY]: count }),
  z.object({ audioTracks: count, subtitles: count }),
  {
    decode: (stored) => ({ audioTracks: stored[AUDIO_KEY], subtitles: stored[SUBTITLES_KEY] }),
    encode: ({ audioTracks, subtitles }) => ({
      [AUDIO_KEY]: audioTracks,
      [SUBTITLES_KEY]: subtitles,
    }),
  },
)

const growthRecord = z.object({
  /** Incremented when other bytes have replaced what was listed. */
  generation: z.int().nonnegative(),
  startHash: z.string(),
  /** Bytes before the end of what was listed. */
  tail: markedBytes,
  form: z.enum(['ts', 'fmp4']),
  /** Renditions of the first listing. */
  counts: renditionCounts,
  /** The file when it was finished; absent before that. */
  finished: z
    .object({ path: z.string(), sizeBytes: count, modifiedMs: z.number(), version: z.string() })
    .optional(),
})

/** A recording as it was listed while it was growing. */
export type GrowthRecord = z.infer<typeof growthRecord>

const recordFile = z.object({
  format: z.literal('aftercast-grown-1'),
  session: z.array(z.string()),
  recordings: z.record(z.string(), growthRecord),
})

/** Records of a session by recording name; undefined if it was never listed while growing. */
export type SessionGrowth = Readonly<Record<string, GrowthRecord>> | undefined

const MAX_FILE_BYTES = 4 * 1024 * 1024
/** Of the files; a session of a day takes some hundred kilobytes, and is read once per part. */
const MAX_PARSED_BYTES = 8 * 1024 * 1024

interface ParsedRecords {
  /** Of the file before it was read. */
  version: string
  growth: SessionGrowth
  sizeBytes: number
}

export interface GrowthRecordsOptions {
  folder: string
  /** Called after a failed write. The next change writes again. */
  onWriteError(error: unknown): void
}

export class GrowthRecords {
  readonly #options: GrowthRecordsOptions
  readonly #parsed = new LRUCache<string, ParsedRecords>({
    maxSize: MAX_PARSED_BYTES,
    sizeCalculation: ({ sizeBytes }) => sizeBytes + 1,
  })
  /** The last write of this process: writes are sequential. */
  #writing: Promise<void> = Promise.resolve()

  constructor(options: GrowthRecordsOptions) {
    this.#options = options
  }

  /** Parsed again only if the file is another one: any process may have replaced it. */
  async read(session: SessionReference): Promise<SessionGrowth> {
    const path = this.#path(session)
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    if (found === undefined || found.size > MAX_FILE_BYTES) return undefined
    const version = `${found.ino} ${found.mtimeNs} ${found.ctimeNs} ${found.size}`
    const known = this.#parsed.get(path)
    if (known?.version === version) return known.growth
    const growth = await readRecords(path)
    this.#parsed.set(path, { version, growth, sizeBytes: Number(found.size) })
    return growth
  }

  /** Adds records to the session. An empty list records that the session was listed. */
  async add(session: SessionReference, recordings: Record<string, GrowthRecord>): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      try {
        const existing = await this.read(session)
        const content: z.infer<typeof recordFile> = {
          format: 'aftercast-grown-1',
          session: namesOf(session),
          recordings: { ...existing, ...recordings },
        }
        await writeAtomically(this.#path(session), JSON.stringify(z.encode(recordFile, content)))
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

async function readRecords(path: string): Promise<SessionGrowth> {
  const bytes = await readFile(path).catch(() => undefined)
  if (bytes === undefined || bytes.length > MAX_FILE_BYTES) return undefined
  const parsed = recordFile.safeParse(parseJson(bytes.toString()))
  return parsed.success ? parsed.data.recordings : undefined
}

function namesOf({ streamer, date, sessionId }: SessionReference): string[] {
  return [streamer, date, sessionId]
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // A corrupt file counts as missing.
    return undefined
  }
}

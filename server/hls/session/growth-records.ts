// Which sessions were ever listed while they were growing, on disk and among the artifacts that
// nodes share. Their playlists and URLs keep that form for ever: after restarts and renames, in
// every process and on every node.
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { SessionReference } from '../../../shared/paths.ts'
import { nameArtifact } from '../../artifacts/artifact-store.ts'
import type { SharedArtifacts } from '../../artifacts/shared-artifacts.ts'
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

/** Another node writes its record a moment after it has listed the session. */
const MISSING_TTL_MS = 10_000
const MAX_MISSING = 10_000
/** Reads of shared artifacts have a time limit of their own. */
const { signal: neverAborted } = new AbortController()

export interface GrowthRecordsOptions {
  folder: string
  /** The records that nodes share. Default none. */
  shared?: SharedArtifacts | undefined
  /** Called after a failed write. The next change writes again. */
  onWriteError(error: unknown): void
}

export class GrowthRecords {
  readonly #options: GrowthRecordsOptions
  readonly #parsed = new LRUCache<string, ParsedRecords>({
    maxSize: MAX_PARSED_BYTES,
    sizeCalculation: ({ sizeBytes }) => sizeBytes + 1,
  })
  /** Sessions without a shared record. */
  readonly #missing = new LRUCache<string, true>({ max: MAX_MISSING, ttl: MISSING_TTL_MS })
  /** The last write of this process: writes are sequential. */
  #writing: Promise<void> = Promise.resolve()

  constructor(options: GrowthRecordsOptions) {
    this.#options = options
  }

  async read(session: SessionReference): Promise<SessionGrowth> {
    return (await this.#readOwn(session)) ?? this.#readShared(session)
  }

  /** Parsed again only if the file is another one: any process may have replaced it. */
  async #readOwn(session: SessionReference): Promise<SessionGrowth> {
    const path = this.#path(session)
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    if (found === undefined || found.size > MAX_FILE_BYTES) return undefined
    const version = `${found.ino} ${found.mtimeNs} ${found.ctimeNs} ${found.size}`
    const known = this.#parsed.get(path)
    if (known?.version === version) return known.growth
    const growth = await readRecordFile(path)
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
        const json = JSON.stringify(z.encode(recordFile, content))
        await writeAtomically(this.#path(session), json)
        const artifact = { sizeBytes: json.length, make: () => Buffer.from(json) }
        this.#options.shared?.update(artifactName(session), artifact)
      } catch (error) {
        this.#options.onWriteError(error)
      }
    })
    return this.#writing
  }

  /** What another node has recorded, which is this node's own record then. */
  async #readShared(session: SessionReference): Promise<SessionGrowth> {
    const { shared } = this.#options
    const name = artifactName(session)
    if (shared === undefined || this.#missing.has(name)) return undefined
    const bytes = await shared.read(name, neverAborted)
    const growth = bytes && parseRecords(bytes)
    if (bytes === undefined || growth === undefined) {
      this.#missing.set(name, true)
      return undefined
    }
    try {
      await writeAtomically(this.#path(session), bytes, { existing: 'keep' })
    } catch (error) {
      this.#options.onWriteError(error)
    }
    return growth
  }

  #path(session: SessionReference): string {
    const name = createHash('sha256')
      .update(JSON.stringify(namesOf(session)))
      .digest('hex')
    return join(this.#options.folder, name.slice(0, 2), `${name.slice(2)}.json`)
  }
}

async function readRecordFile(path: string): Promise<SessionGrowth> {
  const bytes = await readFile(path).catch(() => undefined)
  return bytes && parseRecords(bytes)
}

function parseRecords(bytes: Uint8Array): SessionGrowth {
  if (bytes.length > MAX_FILE_BYTES) return undefined
  const parsed = recordFile.safeParse(parseJson(Buffer.from(bytes).toString()))
  return parsed.success ? parsed.data.recordings : undefined
}

function artifactName(session: SessionReference): string {
  return nameArtifact('grown-1', namesOf(session), 'json')
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

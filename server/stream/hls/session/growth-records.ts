// Which sessions were ever listed while they were growing, on disk and among the artifacts that
// nodes share. Their playlists and URLs keep that form for ever: after restarts and renames, in
// every process and on every node. Each change is a compare-and-set of all records of a session.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { SessionReference } from '../../../../shared/paths.ts'
import { nameArtifact } from '../../../storage/artifacts/artifact-store.ts'
import type { SharedArtifacts } from '../../../storage/artifacts/shared-artifacts.ts'
import { AppError } from '../../../base/errors.ts'
import { endOf } from '../../../media/index/growth-mark.ts'
import {
  latestVersion,
  readVersioned,
  replaceVersioned,
} from '../../../storage/recordings/versioned-file.ts'
import type { Versioned } from '../../../storage/recordings/versioned-file.ts'

const markedBytes = z.object({
  offset: z.int().nonnegative(),
  length: z
    .int()
    .nonnegative()
    .max(64 * 1024),
  hash: z.string(),
})

const count = z.int().nonnegative()

/** Names of version 0.1, whose records are read after an upgrade. */
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
  /** Bytes before the end of what may be listed. */
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

/** What follows from the records of a session, and the records that it depends on. */
export interface GrowthDecision<Value> {
  value: Value
  /** Replaces records by name. Empty: records that the session was listed. */
  change?: Readonly<Record<string, GrowthRecord>> | undefined
}

/** The records can be neither read nor written now. */
export class NotRecorded extends AppError {
  constructor(cause: unknown) {
    super('busy', 'the recording cannot be listed now; try again in a moment', { cause })
  }
}

const MAX_FILE_BYTES = 4 * 1024 * 1024
/** Of the records; a session of a day takes some hundred kilobytes, and is read once per part. */
const MAX_PARSED_BYTES = 8 * 1024 * 1024
/** Shorter than any recording takes to settle: then no other node lists it as growing any more. */
const FRESH_MS = 1000
/** A finished session is looked up as often as it is requested. */
const LISTED_FRESH_MS = 10_000
/** Each failed one is a change of another process. */
const MAX_TRIES = 50
/** Reads of shared artifacts have a time limit of their own. */
const { signal: neverAborted } = new AbortController()

/** A version of the records, as all processes agree on it. */
interface Agreed {
  growth: SessionGrowth
  /** Undefined if there is none yet; the records are those of an earlier release then. */
  version: string | undefined
}

interface Cached extends Agreed {
  sizeBytes: number
  readMs: number
}

/** The records as far as this process has read them. */
interface Known {
  growth: SessionGrowth
  /** What a change replaces; undefined if it was not read. */
  agreed: Agreed | undefined
}

export interface GrowthRecordsOptions {
  folder: string
  /** The records that nodes share: those in the folder are a copy then. Default none. */
  shared?: SharedArtifacts | undefined
  /** Called after a failed read or write. */
  onWriteError(error: unknown): void
}

export class GrowthRecords {
  readonly #options: GrowthRecordsOptions
  readonly #own = createCache()
  readonly #shared = createCache()

  constructor(options: GrowthRecordsOptions) {
    this.#options = options
  }

  /** Whether the session was ever listed while it was growing. */
  async wasListed(session: SessionReference): Promise<boolean> {
    try {
      return (await this.#find(session, undefined, LISTED_FRESH_MS)).growth !== undefined
    } catch (error) {
      this.#options.onWriteError(error)
      return false
    }
  }

  /** Records that the session is listed while it is growing. */
  async recordListed(session: SessionReference): Promise<void> {
    const decide = async (growth: SessionGrowth) => ({
      value: undefined,
      change: growth === undefined ? {} : undefined,
    })
    try {
      await this.update({ session }, decide)
    } catch (error) {
      this.#options.onWriteError(error)
    }
  }

  /**
   * Decides by the records of a session. The result is returned once the change is on the disk, or
   * in the store: no other process has changed the records since they were passed to `decide`,
   * which is called again with those of another process until that is so. Without a change, they
   * may be older, but have the named recording if any process had listed it a second ago.
   *
   * @throws NotRecorded, and what `decide` throws
   */
  async update<Value>(
    { session, name }: { session: SessionReference; name?: string },
    decide: (growth: SessionGrowth) => Promise<GrowthDecision<Value>>,
  ): Promise<Value> {
    let maxAgeMs = FRESH_MS
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const known = await orNotRecorded(this.#find(session, name, maxAgeMs))
      const { value, change } = await decide(known.growth)
      if (change === undefined) return value
      if (known.agreed !== undefined) {
        const growth = { ...known.growth, ...change }
        const replaced = this.#replace(session, growth, known.agreed.version)
        if (await orNotRecorded(replaced)) return value
      }
      maxAgeMs = 0
    }
    throw new NotRecorded(new Error('other processes change the records all the time'))
  }

  /**
   * The records, of which those of the named recording, or the fact that there are any, are not
   * older than `maxAgeMs` if they are missing. With a `maxAgeMs` of 0, none are.
   */
  async #find(
    session: SessionReference,
    name: string | undefined,
    maxAgeMs: number,
  ): Promise<Known> {
    const { shared } = this.#options
    if (shared === undefined) {
      const agreed = await this.#readOwn(session)
      return { growth: agreed.growth, agreed }
    }
    const own = await this.#readOwn(session).catch(() => undefined)
    const cached = this.#shared.get(this.#path(session))
    const growth = merge(cached?.growth, own?.growth)
    const isFound = (name === undefined ? growth : growth?.[name]) !== undefined
    const isFresh = cached !== undefined && performance.now() - cached.readMs < maxAgeMs
    if ((isFound && maxAgeMs > 0) || isFresh) return { growth, agreed: cached }
    try {
      const agreed = await this.#readShared(session, shared)
      return { growth: merge(agreed.growth, own?.growth), agreed }
    } catch (error) {
      if (maxAgeMs === 0) throw error
      return { growth, agreed: undefined }
    }
  }

  /** Parsed again only if there is another version: any process may have written one. */
  async #readOwn(session: SessionReference): Promise<Agreed> {
    const path = this.#path(session)
    const version = await latestVersion(path)
    const cached = this.#own.get(path)
    if (version !== undefined && cached?.version === version) return cached
    const found = version === undefined ? undefined : await readVersioned(path)
    if (found !== undefined) return remember(this.#own, path, found)
    const earlier = await readFile(`${path}.json`).catch(() => undefined)
    return { growth: earlier && parseRecords(earlier), version: undefined }
  }

  async #readShared(session: SessionReference, shared: SharedArtifacts): Promise<Agreed> {
    const found = await shared.readVersioned(nameArtifact('grown-2', namesOf(session), 'json'))
    if (found !== undefined) {
      const agreed = remember(this.#shared, this.#path(session), found)
      await this.#copy(session, found.bytes)
      return agreed
    }
    const earlierName = nameArtifact('grown-1', namesOf(session), 'json')
    const earlier = await shared.read(earlierName, neverAborted)
    const growth = earlier && parseRecords(earlier)
    const cached = { growth, version: undefined, sizeBytes: 0, readMs: performance.now() }
    this.#shared.set(this.#path(session), cached)
    return cached
  }

  /** Whether the records had the expected version, and were replaced. */
  async #replace(
    session: SessionReference,
    recordings: NonNullable<SessionGrowth>,
    version: string | undefined,
  ): Promise<boolean> {
    const content = { format: 'aftercast-grown-1' as const, session: namesOf(session), recordings }
    const bytes = Buffer.from(JSON.stringify(z.encode(recordFile, content)))
    if (bytes.length > MAX_FILE_BYTES) throw new AppError('failed', 'too many growing recordings')
    const { shared } = this.#options
    const path = this.#path(session)
    const written = await (shared === undefined
      ? replaceVersioned(path, bytes, version)
      : shared.replace(nameArtifact('grown-2', namesOf(session), 'json'), bytes, version))
    if (written === undefined) return false
    remember(shared === undefined ? this.#own : this.#shared, path, { bytes, version: written })
    if (shared !== undefined) await this.#copy(session, bytes)
    return true
  }

  /** For times when the shared records cannot be read. The copy may be older than they are. */
  async #copy(session: SessionReference, bytes: Uint8Array): Promise<void> {
    const path = this.#path(session)
    try {
      const version = await replaceVersioned(path, bytes, await latestVersion(path))
      if (version !== undefined) remember(this.#own, path, { bytes, version })
    } catch (error) {
      this.#options.onWriteError(error)
    }
  }

  #path(session: SessionReference): string {
    const name = createHash('sha256')
      .update(JSON.stringify(namesOf(session)))
      .digest('hex')
    return join(this.#options.folder, name.slice(0, 2), name.slice(2))
  }
}

function createCache(): LRUCache<string, Cached> {
  return new LRUCache<string, Cached>({
    maxSize: MAX_PARSED_BYTES,
    sizeCalculation: ({ sizeBytes }) => sizeBytes + 1,
  })
}

/** @throws AppError `failed` if they are corrupt or of a later release: nobody replaces them */
function remember(
  cache: LRUCache<string, Cached>,
  path: string,
  { bytes, version }: Versioned,
): Cached {
  const growth = parseRecords(bytes)
  if (growth === undefined) throw new AppError('failed', `the growth records ${path} are corrupt`)
  const cached = { growth, version, sizeBytes: bytes.length, readMs: performance.now() }
  cache.set(path, cached)
  return cached
}

async function orNotRecorded<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work
  } catch (error) {
    throw new NotRecorded(error)
  }
}

/** With what only this node has: it may have listed sessions before it shared its records. */
function merge(agreed: SessionGrowth, own: SessionGrowth): SessionGrowth {
  if (agreed === undefined || own === undefined) return agreed ?? own
  const later = Object.entries(own).filter(([name, record]) => isLater(record, agreed[name]))
  return later.length === 0 ? agreed : { ...agreed, ...Object.fromEntries(later) }
}

function isLater(record: GrowthRecord, other: GrowthRecord | undefined): boolean {
  if (other === undefined || record.generation > other.generation) return true
  const isSame =
    record.generation === other.generation &&
    record.startHash === other.startHash &&
    record.form === other.form
  return isSame && endOf(record.tail) > endOf(other.tail)
}

/** Undefined for corrupt records, which count as missing in the format before 0.3. */
function parseRecords(bytes: Uint8Array): SessionGrowth {
  if (bytes.length > MAX_FILE_BYTES) return undefined
  return recordFile.safeParse(parseJson(Buffer.from(bytes).toString())).data?.recordings
}

function namesOf({ streamer, date, sessionId }: SessionReference): string[] {
  return [streamer, date, sessionId]
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

// Resolves a recorder's playlist to the existing byte ranges of its files, run by run.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { closingAsync } from '../../base/closing.ts'
import { UnplayableError, checkLimit, isAppError, limitExceeded } from '../../base/errors.ts'
import { readDecryptedLength } from '../../storage/recordings/concatenated-file.ts'
import { folderOf, joinPath } from '../../storage/recordings/library-path.ts'
import { packRanges } from '../../storage/recordings/range-list.ts'
import type { FileRange, RangeList } from '../../storage/recordings/range-list.ts'
import type { FileStat, Storage } from '../../storage/recordings/storage.ts'
import { MAX_PLAYLIST_BYTES, parseRecordedPlaylist } from './recorded-playlist.ts'
import type { RecordedPlaylist, RecordedSegment, RecordedRun } from './recorded-playlist.ts'

/** The runs of a playlist, in order; at least one. A plain value. */
export interface RecordedList {
  /** Equal for equal runs of the same, unchanged files. */
  version: string
  /** All have the same table. */
  runs: RecordedPart[]
}

/** One run of a recording, opened as one file (see storage/recordings/concatenated-file.ts). */
export interface RecordedPart {
  /** At least one. */
  ranges: RangeList
  /** Start in Unix milliseconds, if the playlist has it. */
  startMs?: number
}

/** A run before its ranges are packed. */
interface FoundRun {
  ranges: FileRange[]
  startMs?: number
}

const KEY_BYTES = 16
/** Folders of the segments of one playlist. */
const MAX_FOLDERS = 256
/** As many as a folder may have parts. */
const MAX_RUNS = 1500
/**
 * Recorders list each byte once, and a map once per run; a short playlist must not expand to
 * unlimited media.
 */
const MAX_REPETITION = 8
/** Up to this total size, repetition is allowed. */
const UNCHECKED_TOTAL_BYTES = 64 * 1024 * 1024
/** Cached lengths of encrypted files, each of which costs a read and about 150 bytes. */
const MAX_CACHED_LENGTHS = 200_000
/** A file that was not written to for this time keeps its stat, */
const SETTLED_MS = 60_000
/** for this time, within which a replaced one is noticed. Whoever reads it compares it before. */
const STATS_TTL_MS = 5000
/** Cached stats, about 200 bytes each. */
const MAX_CACHED_STATS = 100_000
const MAX_PARSED_BYTES = 48 * 1024 * 1024
/** Memory of a parsed segment without its names. */
const SEGMENT_BYTES = 200

interface KnownStats {
  /** When all files had their stats read. */
  readMs: number
  stats: Listing['stats']
}

interface ParsedPlaylist {
  stat: FileStat
  playlist: RecordedPlaylist
}

/**
 * Reads recorders' playlists. Caches what is expensive to compute, because a growing playlist is
 * read again and again. A playlist may have many thousands of segments: it is used off the event
 * loop.
 */
export class RecordedFolders {
  readonly #storage: Storage
  readonly #now: () => number
  readonly #knownStats = new LRUCache<string, KnownStats>({
    maxSize: MAX_CACHED_STATS,
    sizeCalculation: ({ stats }) => stats.size + 1,
  })
  readonly #decryptedLengths = new LRUCache<string, number>({ max: MAX_CACHED_LENGTHS })
  readonly #parsed = new LRUCache<string, ParsedPlaylist>({
    maxSize: MAX_PARSED_BYTES,
    sizeCalculation: ({ playlist }) => memoryBytes(playlist),
  })

  /** @param now milliseconds of a monotonic clock */
  constructor(storage: Storage, now = () => performance.now()) {
    this.#storage = storage
    this.#now = now
  }

  /**
   * The runs of the playlist at `path`. A missing file ends a run. An unchanged playlist is not
   * parsed again, but its files are checked: for a caller that knows a version, those that have
   * not been written to for a minute every five seconds.
   *
   * @param known a version; `unchanged` if the list has it
   * @throws UnplayableError with the reason, `not_found` if there is no playlist
   */
  async read(path: string, known?: string): Promise<RecordedList | 'unchanged'> {
    const { folder, runs } = await this.#readPlaylist(path)
    const listing = await this.#listKnown(path, { folder, runs }, known !== undefined)
    const found: FoundRun[] = []
    for (const run of runs) found.push(...(await this.#partsOf(run, listing)))
    if (found.length === 0) throw new UnplayableError({ code: 'segments-missing' })
    checkLimit('parts', MAX_RUNS, found.length)
    checkTotal(found)
    const list = packRuns(found, folder)
    return list.version === known ? 'unchanged' : list
  }

  /** Follows a multivariant playlist to a media playlist, once. */
  async #readPlaylist(path: string): Promise<FoundPlaylist> {
    const folder = folderOf(path)
    const playlist = await this.#parse(path)
    if (playlist.kind === 'media') return { folder, runs: playlist.runs }
    const mediaPlaylist = joinPath(folder, playlist.name)
    const chosen = await this.#parse(mediaPlaylist).catch(rethrowAsUnplayable)
    if (chosen.kind === 'media') return { folder: folderOf(mediaPlaylist), runs: chosen.runs }
    throw new UnplayableError({ code: 'playlist-invalid', defect: 'nested-multivariant' })
  }

  async #parse(path: string): Promise<RecordedPlaylist> {
    const stat = await this.#storage.stat(path)
    const cached = this.#parsed.get(path)
    if (cached !== undefined && cached.stat.version === stat.version) return cached.playlist
    const playlist = parseRecordedPlaylist(await this.#readText(path))
    this.#parsed.set(path, { stat, playlist })
    return playlist
  }

  async #readText(path: string): Promise<string> {
    const bytes = await this.#readWhole(path, MAX_PLAYLIST_BYTES)
    if (bytes === undefined) throw limitExceeded('playlist-bytes', MAX_PLAYLIST_BYTES)
    return new TextDecoder().decode(bytes)
  }

  /** Undefined for a larger file. */
  async #readWhole(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const file = await this.#storage.open(path)
    await using _closing = closingAsync(file)
    if (file.stat.sizeBytes > maxBytes) return undefined
    const bytes = Buffer.alloc(file.stat.sizeBytes)
    return bytes.subarray(0, await file.read(bytes, 0))
  }

  /** A growing playlist of a day would need thousands of stats for each new segment. */
  async #listKnown(path: string, playlist: FoundPlaylist, mayBeKnown: boolean): Promise<Listing> {
    const nowMs = this.#now()
    const cached = mayBeKnown ? this.#knownStats.get(path) : undefined
    const known = cached !== undefined && nowMs - cached.readMs < STATS_TTL_MS ? cached : undefined
    const listing = await this.#list(playlist, known?.stats ?? new Map())
    this.#knownStats.set(path, { readMs: known?.readMs ?? nowMs, stats: listing.stats })
    return listing
  }

  /** Listing a folder is far cheaper than a stat for each segment. */
  async #list({ folder, runs }: FoundPlaylist, known: Listing['stats']): Promise<Listing> {
    const folders = new Set<string>()
    for (const { map, segments } of runs) {
      for (const { name } of map ? [map, ...segments] : segments) folders.add(folderOf(name))
    }
    checkLimit('segment-folders', MAX_FOLDERS, folders.size)
    const stats = new Map<string, FileStat>()
    for (const subfolder of folders) {
      const isKnown = (name: string): boolean => isSettled(known.get(joinPath(subfolder, name)))
      const entries = await this.#storage
        .list(joinPath(folder, subfolder), { stats: true, isKnown })
        .catch(emptyIfMissing)
      for (const { name, kind, stat } of entries) {
        const path = joinPath(subfolder, name)
        const found = stat ?? (kind === 'file' ? known.get(path) : undefined)
        if (found !== undefined) stats.set(path, found)
      }
    }
    return { folder, stats, keys: new Map() }
  }

  async #partsOf(run: RecordedRun, listing: Listing): Promise<FoundRun[]> {
    const map = run.map && (await this.#rangeOf(run.map, listing))
    if (run.map !== undefined && map === undefined) return []
    const parts: FoundRun[] = []
    let isOpen = false
    for (const segment of run.segments) {
      const range = await this.#rangeOf(segment, listing)
      const last = isOpen ? parts.at(-1) : undefined
      isOpen = range !== undefined
      if (range === undefined) continue
      if (last === undefined) parts.push({ ranges: map === undefined ? [range] : [map, range] })
      else last.ranges.push(range)
    }
    const [first] = parts
    if (first !== undefined && run.startMs !== undefined) first.startMs = run.startMs
    return parts
  }

  /** Undefined if the file is missing or ends before the range. */
  async #rangeOf(segment: RecordedSegment, listing: Listing): Promise<FileRange | undefined> {
    const stat = listing.stats.get(segment.name)
    if (stat === undefined) return undefined
    const { offset, length } = segment.byteRange ?? { offset: 0, length: stat.sizeBytes }
    if (length === 0 || offset + length > stat.sizeBytes) return undefined
    const range: FileRange = { path: joinPath(listing.folder, segment.name), stat, offset, length }
    return segment.encryption === undefined
      ? range
      : this.#decrypted(range, { ...segment.encryption, listing })
  }

  async #decrypted(
    range: FileRange,
    { keyName, iv, listing }: { keyName: string; iv: Uint8Array; listing: Listing },
  ): Promise<FileRange> {
    const decryption = { key: await this.#readKey(keyName, listing), iv }
    const { path, stat, offset } = range
    const facts = [path, stat, offset, range.length, [...decryption.key], [...iv]]
    const id = createHash('sha256').update(JSON.stringify(facts)).digest('base64')
    const cached = this.#decryptedLengths.get(id)
    if (cached !== undefined) return { ...range, decryption, length: cached }
    const file = await this.#storage.open(path)
    await using _closing = closingAsync(file)
    const length = await readDecryptedLength(file, { ...range, decryption })
    this.#decryptedLengths.set(id, length)
    return { ...range, decryption, length }
  }

  async #readKey(name: string, { folder, keys }: Listing): Promise<Uint8Array> {
    const cached = keys.get(name)
    if (cached !== undefined) return cached
    const key = await this.#readWhole(joinPath(folder, name), KEY_BYTES).catch(rethrowAsUnplayable)
    if (key?.length !== KEY_BYTES)
      throw new UnplayableError({ code: 'playlist-invalid', defect: 'key-invalid' })
    keys.set(name, key)
    return key
  }
}

interface FoundPlaylist {
  folder: string
  runs: RecordedRun[]
}

function isSettled(stat: FileStat | undefined): boolean {
  return stat !== undefined && Date.now() - stat.modifiedMs > SETTLED_MS
}

interface Listing {
  folder: string
  /** Files by name relative to the folder. */
  stats: ReadonlyMap<string, FileStat>
  keys: Map<string, Uint8Array>
}

function packRuns(found: readonly FoundRun[], folder: string): RecordedList {
  const lists = packRanges(
    found.map(({ ranges }) => ranges),
    folder === '' ? '' : `${folder}/`,
  )
  const runs = lists.map((ranges, i) => {
    const startMs = found[i]?.startMs
    return { ranges, ...(startMs !== undefined && { startMs }) }
  })
  const facts = runs.map(({ ranges, startMs }) => [ranges.stat.version, startMs ?? null])
  const version = createHash('sha256')
    .update(JSON.stringify([folder, facts]))
    .digest('base64url')
  return { version, runs }
}

/** Estimated memory of a parsed playlist. */
function memoryBytes(playlist: RecordedPlaylist): number {
  if (playlist.kind === 'multivariant') return SEGMENT_BYTES
  return playlist.runs.reduce(
    (sum, { segments }) =>
      segments.reduce((bytes, { name }) => bytes + SEGMENT_BYTES + 2 * name.length, sum),
    SEGMENT_BYTES,
  )
}

function checkTotal(parts: readonly FoundRun[]): void {
  const ranges = parts.flatMap((part) => part.ranges)
  const files = new Map(ranges.map(({ path, stat }) => [path, stat.sizeBytes]))
  const presentBytes = [...files.values()].reduce((sum, sizeBytes) => sum + sizeBytes, 0)
  const listedBytes = ranges.reduce((sum, { length }) => sum + length, 0)
  if (listedBytes > Math.max(UNCHECKED_TOTAL_BYTES, MAX_REPETITION * presentBytes)) {
    throw limitExceeded('playlist-repeated-bytes', MAX_REPETITION)
  }
}

function emptyIfMissing(error: unknown): never[] {
  if (isAppError(error, 'not_found')) return []
  throw error
}

function rethrowAsUnplayable(error: unknown): never {
  if (!isAppError(error, 'not_found')) throw error
  throw new UnplayableError({ code: 'playlist-invalid', defect: 'file-missing' })
}

// Resolves a recorder's playlist to the existing byte ranges of its files, run by run.
import { LRUCache } from 'lru-cache'
import { isAppError, UnplayableError } from '../../errors.ts'
import { readDecryptedLength } from '../../storage/concatenated-file.ts'
import type { FileRange } from '../../storage/concatenated-file.ts'
import type { FileStat, Storage } from '../../storage/storage.ts'
import { MAX_PLAYLIST_BYTES, parseRecordedPlaylist } from './recorded-playlist.ts'
import type { RecordedSegment, RecordedRun } from './recorded-playlist.ts'

/**
 * One run of a recording, opened as one file (see storage/concatenated-file.ts). It has at least
 * one range.
 */
export interface RecordedPart {
  ranges: FileRange[]
  /** Start in Unix milliseconds, if the playlist has it. */
  startMs?: number
}

const KEY_BYTES = 16
/** Folders of the segments of one playlist. */
const MAX_FOLDERS = 256
/**
 * Recorders list each byte once, and a map once per run; a short playlist must not expand to
 * unlimited media.
 */
const MAX_REPETITION = 8
/** Up to this total size, repetition is allowed. */
const UNCHECKED_TOTAL_BYTES = 64 * 1024 * 1024
/** Cached lengths of encrypted files, each of which costs a read. */
const MAX_CACHED_LENGTHS = 200_000

/**
 * Reads recorders' playlists. Caches what is expensive to compute, because a growing playlist is
 * read again and again.
 */
export class RecordedFolders {
  readonly #storage: Storage
  readonly #decryptedLengths = new LRUCache<string, number>({ max: MAX_CACHED_LENGTHS })

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /**
   * The runs of the playlist at `path`, in order. A missing file ends a run.
   *
   * @throws UnplayableError with the reason, `not_found` if there is no playlist
   */
  async read(path: string): Promise<RecordedPart[]> {
    const { folder, runs } = await this.#readPlaylist(path)
    const listing = await this.#list(folder, runs)
    const parts: RecordedPart[] = []
    for (const run of runs) parts.push(...(await this.#partsOf(run, listing)))
    if (parts.length === 0) throw new UnplayableError({ code: 'segments-missing' })
    checkTotal(parts)
    return parts
  }

  /** Follows a multivariant playlist to a media playlist, once. */
  async #readPlaylist(path: string): Promise<{ folder: string; runs: RecordedRun[] }> {
    const folder = folderOf(path)
    const playlist = parseRecordedPlaylist(await this.#readText(path))
    if (playlist.kind === 'media') return { folder, runs: playlist.runs }
    const mediaPlaylist = join(folder, playlist.name)
    const chosen = parseRecordedPlaylist(
      await this.#readText(mediaPlaylist).catch(rethrowAsUnplayable),
    )
    if (chosen.kind === 'media') return { folder: folderOf(mediaPlaylist), runs: chosen.runs }
    throw new UnplayableError({ code: 'playlist-invalid', defect: 'nested-multivariant' })
  }

  async #readText(path: string): Promise<string> {
    const bytes = await this.#readWhole(path, MAX_PLAYLIST_BYTES)
    if (bytes === undefined) {
      const limit = { limit: 'playlist-bytes', max: MAX_PLAYLIST_BYTES } as const
      throw new UnplayableError({ code: 'limit-exceeded', ...limit })
    }
    return new TextDecoder().decode(bytes)
  }

  /** Undefined for a larger file. */
  async #readWhole(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const file = await this.#storage.open(path)
    try {
      if (file.stat.sizeBytes > maxBytes) return undefined
      const bytes = Buffer.alloc(file.stat.sizeBytes)
      return bytes.subarray(0, await file.read(bytes, 0))
    } finally {
      await file.close()
    }
  }

  /** Listing a folder is far cheaper than a stat for each segment. */
  async #list(folder: string, runs: readonly RecordedRun[]): Promise<Listing> {
    const folders = new Set<string>()
    for (const { map, segments } of runs) {
      for (const { name } of map ? [map, ...segments] : segments) folders.add(folderOf(name))
    }
    if (folders.size > MAX_FOLDERS) {
      throw new UnplayableError({
        code: 'limit-exceeded',
        limit: 'segment-folders',
        max: MAX_FOLDERS,
      })
    }
    const stats = new Map<string, FileStat>()
    for (const subfolder of folders) {
      const entries = await this.#storage
        .list(join(folder, subfolder), { stats: true })
        .catch(emptyIfMissing)
      for (const { name, stat } of entries) if (stat) stats.set(join(subfolder, name), stat)
    }
    return { folder, stats, keys: new Map() }
  }

  async #partsOf(run: RecordedRun, listing: Listing): Promise<RecordedPart[]> {
    const map = run.map && (await this.#rangeOf(run.map, listing))
    if (run.map !== undefined && map === undefined) return []
    const parts: RecordedPart[] = []
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
    const range: FileRange = { path: join(listing.folder, segment.name), stat, offset, length }
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
    const id = JSON.stringify([path, stat, offset, range.length, [...decryption.key], [...iv]])
    const cached = this.#decryptedLengths.get(id)
    if (cached !== undefined) return { ...range, decryption, length: cached }
    const file = await this.#storage.open(path)
    try {
      const length = await readDecryptedLength(file, { ...range, decryption })
      this.#decryptedLengths.set(id, length)
      return { ...range, decryption, length }
    } finally {
      await file.close()
    }
  }

  async #readKey(name: string, { folder, keys }: Listing): Promise<Uint8Array> {
    const cached = keys.get(name)
    if (cached !== undefined) return cached
    const key = await this.#readWhole(join(folder, name), KEY_BYTES).catch(rethrowAsUnplayable)
    if (key?.length !== KEY_BYTES)
      throw new UnplayableError({ code: 'playlist-invalid', defect: 'key-invalid' })
    keys.set(name, key)
    return key
  }
}

interface Listing {
  folder: string
  /** Files by name relative to the folder. */
  stats: ReadonlyMap<string, FileStat>
  keys: Map<string, Uint8Array>
}

function checkTotal(parts: readonly RecordedPart[]): void {
  const ranges = parts.flatMap((part) => part.ranges)
  const files = new Map(ranges.map(({ path, stat }) => [path, stat.sizeBytes]))
  const presentBytes = [...files.values()].reduce((sum, sizeBytes) => sum + sizeBytes, 0)
  const listedBytes = ranges.reduce((sum, { length }) => sum + length, 0)
  if (listedBytes > Math.max(UNCHECKED_TOTAL_BYTES, MAX_REPETITION * presentBytes)) {
    throw new UnplayableError({
      code: 'limit-exceeded',
      limit: 'playlist-repeated-bytes',
      max: MAX_REPETITION,
    })
  }
}

function folderOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? '' : path.slice(0, slash)
}

function join(folder: string, name: string): string {
  return folder === '' || name === '' ? folder + name : `${folder}/${name}`
}

function emptyIfMissing(error: unknown): never[] {
  if (isAppError(error, 'not_found')) return []
  throw error
}

function rethrowAsUnplayable(error: unknown): never {
  if (!isAppError(error, 'not_found')) throw error
  throw new UnplayableError({ code: 'playlist-invalid', defect: 'file-missing' })
}

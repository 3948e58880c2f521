// Finds the media behind a recorder's playlist: per run the ranges of its files that are there.
import { LRUCache } from 'lru-cache'
import { isAppError, UnplayableError } from '../../errors.ts'
import { readDecryptedLength } from '../../storage/concatenated-file.ts'
import type { FileRange } from '../../storage/concatenated-file.ts'
import type { FileStat, Storage } from '../../storage/storage.ts'
import { MAX_PLAYLIST_BYTES, parseRecordedPlaylist } from './recorded-playlist.ts'
import type { RecordedSegment, RecordedRun } from './recorded-playlist.ts'

/** One run of a recording, read as one file (see storage/concatenated-file.ts). Never without ranges. */
export interface RecordedPart {
  ranges: FileRange[]
  /** When it began, in milliseconds since 1970, where the playlist says so. */
  startMs?: number
}

const KEY_BYTES = 16
/** Folders that the segments of one playlist may lie in. */
const MAX_FOLDERS = 256
/** Recorders list bytes once, and a map once for each run; a short playlist must not stand for endless media. */
const MAX_TIMES_LISTED = 8
/** What may be listed as often as it likes. */
const SMALL_TOTAL_BYTES = 64 * 1024 * 1024
/** Lengths of encrypted files, which take a read each to find out. */
const MAX_KNOWN_LENGTHS = 200_000

/** Reads recorders' playlists; remembers what is dear to find out, so that one that grows is read quickly again. */
export class RecordedFolders {
  readonly #storage: Storage
  readonly #lengths = new LRUCache<string, number>({ max: MAX_KNOWN_LENGTHS })

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /**
   * The runs behind the playlist at `path`, in order. Files that are not there end a run.
   *
   * @throws AppError `unplayable` with the reason, `not_found` where there is no playlist
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

  /** A multivariant playlist leads to a media playlist, once. */
  async #readPlaylist(path: string): Promise<{ folder: string; runs: RecordedRun[] }> {
    const folder = folderOf(path)
    const playlist = parseRecordedPlaylist(await this.#readText(path))
    if (playlist.kind === 'media') return { folder, runs: playlist.runs }
    const inner = join(folder, playlist.name)
    const chosen = parseRecordedPlaylist(await this.#readText(inner).catch(orUnplayable))
    if (chosen.kind === 'media') return { folder: folderOf(inner), runs: chosen.runs }
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

  /** One listing a folder is far cheaper than a stat a segment. */
  async #list(folder: string, runs: readonly RecordedRun[]): Promise<Listing> {
    const folders = new Set<string>()
    for (const { map, chunks } of runs) {
      for (const { name } of map ? [map, ...chunks] : chunks) folders.add(folderOf(name))
    }
    if (folders.size > MAX_FOLDERS) {
      throw new UnplayableError({
        code: 'limit-exceeded',
        limit: 'segment-folders',
        max: MAX_FOLDERS,
      })
    }
    const stats = new Map<string, FileStat>()
    for (const inner of folders) {
      const entries = await this.#storage.list(join(folder, inner), { stats: true }).catch(ifGone)
      for (const { name, stat } of entries) if (stat) stats.set(join(inner, name), stat)
    }
    return { folder, stats, keys: new Map() }
  }

  async #partsOf(run: RecordedRun, listing: Listing): Promise<RecordedPart[]> {
    const map = run.map && (await this.#rangeOf(run.map, listing))
    if (run.map !== undefined && map === undefined) return []
    const parts: RecordedPart[] = []
    let isOpen = false
    for (const chunk of run.chunks) {
      const range = await this.#rangeOf(chunk, listing)
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

  /** Undefined where the file is not there, or ends before the range. */
  async #rangeOf(chunk: RecordedSegment, listing: Listing): Promise<FileRange | undefined> {
    const stat = listing.stats.get(chunk.name)
    if (stat === undefined) return undefined
    const { offset, length } = chunk.byteRange ?? { offset: 0, length: stat.sizeBytes }
    if (length === 0 || offset + length > stat.sizeBytes) return undefined
    const range: FileRange = { path: join(listing.folder, chunk.name), stat, offset, length }
    return chunk.encryption === undefined
      ? range
      : this.#decrypted(range, { ...chunk.encryption, listing })
  }

  async #decrypted(
    range: FileRange,
    { keyName, iv, listing }: { keyName: string; iv: Uint8Array; listing: Listing },
  ): Promise<FileRange> {
    const decryption = { key: await this.#readKey(keyName, listing), iv }
    const { path, stat, offset } = range
    const id = JSON.stringify([path, stat, offset, range.length, [...decryption.key], [...iv]])
    const known = this.#lengths.get(id)
    if (known !== undefined) return { ...range, decryption, length: known }
    const file = await this.#storage.open(path)
    try {
      const length = await readDecryptedLength(file, { ...range, decryption })
      this.#lengths.set(id, length)
      return { ...range, decryption, length }
    } finally {
      await file.close()
    }
  }

  async #readKey(name: string, { folder, keys }: Listing): Promise<Uint8Array> {
    const known = keys.get(name)
    if (known !== undefined) return known
    const key = await this.#readWhole(join(folder, name), KEY_BYTES).catch(orUnplayable)
    if (key?.length !== KEY_BYTES)
      throw new UnplayableError({ code: 'playlist-invalid', defect: 'key-invalid' })
    keys.set(name, key)
    return key
  }
}

interface Listing {
  /** The playlist's folder. */
  folder: string
  /** Files by name relative to it. */
  stats: ReadonlyMap<string, FileStat>
  keys: Map<string, Uint8Array>
}

function checkTotal(parts: readonly RecordedPart[]): void {
  const ranges = parts.flatMap((part) => part.ranges)
  const files = new Map(ranges.map(({ path, stat }) => [path, stat.sizeBytes]))
  const thereBytes = [...files.values()].reduce((sum, sizeBytes) => sum + sizeBytes, 0)
  const listedBytes = ranges.reduce((sum, { length }) => sum + length, 0)
  if (listedBytes > Math.max(SMALL_TOTAL_BYTES, MAX_TIMES_LISTED * thereBytes)) {
    throw new UnplayableError({
      code: 'limit-exceeded',
      limit: 'playlist-repeated-bytes',
      max: MAX_TIMES_LISTED,
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

function ifGone(error: unknown): never[] {
  if (isAppError(error, 'not_found')) return []
  throw error
}

function orUnplayable(error: unknown): never {
  if (!isAppError(error, 'not_found')) throw error
  throw new UnplayableError({ code: 'playlist-invalid', defect: 'file-missing' })
}

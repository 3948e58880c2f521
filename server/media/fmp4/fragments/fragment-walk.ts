// Walks the top-level boxes of a file, returns movies and fragments, and resynchronises after
// corrupt bytes.
import { checkLimit } from '../../../base/errors.ts'
import { readExactly } from '../../../storage/recordings/read-exactly.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { MAX_LIMITATIONS } from '../../media-index.ts'
import { type Box, parseBox, SHORT_HEADER_BYTES } from '../../mp4/boxes/box.ts'
import type { FileWindow } from '../../mp4/boxes/file-window.ts'
import type { Movie } from '../../mp4/index/movie.ts'
import { ReadWindow } from '../../../storage/recordings/read-window.ts'
import {
  MAX_UNVERIFIED_BYTES,
  MAX_MOOF_BYTES,
  MAX_RESYNC_BYTES,
  MAX_TOP_BOXES,
} from '../fmp4-limits.ts'

/** A complete moof with its bytes, or a moov that is completely in the file. */
export type WalkedBox = WalkedMoof | { kind: 'moov'; box: Box }

export interface WalkedMoof {
  kind: 'moof'
  box: Box
  bytes: DataView
  /**
   * Upper bound of its samples: the end of the mdat boxes after it. Infinity if more may be
   * written.
   */
  dataEnd: number
}

/**
 * Skipped bytes. `truncated`: a box that exceeds the end of the file; `fragment`: a moof that
 * contradicts itself.
 */
export interface SkippedBytes {
  kind: 'truncated' | 'noise' | 'fragment'
  from: number
  to: number
}

/** Reads grow while the headers are near each other; between large fragments they stay small. */
const WINDOW = { readBytes: 16 * 1024, largestReadBytes: 1024 * 1024, memory: 'fresh' } as const
const HEADER_BYTES = 16
const MOOF = 0x6d_6f_6f_66
const MOOV = 0x6d_6f_6f_76
const MDAT = 0x6d_64_61_74
const SEARCH_BYTES = 1024 * 1024
/** Start of a moof after its size field: its type, and the header of a 16-byte mfhd. */
const MOOF_MARK = Buffer.from('moof\0\0\0\x10mfhd', 'latin1')

/** Walks the boxes that start in a byte range. */
export class FragmentWalk {
  /** Start of the next box. */
  position: number
  /** The first skipped ranges, at most MAX_LIMITATIONS. */
  readonly skipped: SkippedBytes[] = []
  readonly #file: OpenFile
  readonly #to: number
  readonly #signal: AbortSignal | undefined
  readonly #window: ReadWindow
  #boxes = 0
  /** The last fragment, returned only when the end of its data is found. */
  #pendingMoof: WalkedMoof | undefined
  /** Start of the previous box; its size may be wrong. */
  #previousBox = NaN
  /** Where the walk found no box. */
  #searchStart = 0
  /** Start of the box before it, if the search began there; NaN if not. */
  #suspectBox = NaN
  /** Start of the last moof that a search has found: data of the fragment before ends there. */
  #found = NaN
  #requested: { offset: number; length: number } | 'search' = 'search'

  constructor(file: OpenFile, { from, to, signal }: WalkRange) {
    this.#file = file
    this.position = from
    this.#to = Math.min(to, file.stat.sizeBytes)
    this.#signal = signal
    this.#window = new ReadWindow(file, WINDOW)
  }

  /** The next movie or fragment. `more`: call `load` first; undefined at the end. */
  next(): WalkedBox | 'more' | undefined {
    const { sizeBytes } = this.#file.stat
    while (this.position + 8 <= this.#to) {
      const start = this.position
      const length = Math.min(HEADER_BYTES, sizeBytes - start)
      if (!this.#window.has(start, length)) return this.#request(start, length)
      this.#boxes += 1
      checkLimit('boxes', MAX_TOP_BOXES, this.#boxes)
      const size = this.#boxSize(start, length)
      const end = start + size
      const type = this.#window.uint32(start + 4)
      if (size === 0 || end > sizeBytes) {
        const isUnfinished = size !== 0 && (type === MOOF || type === MDAT)
        return this.#startSearch(isUnfinished ? 'unfinished' : 'invalid')
      }
      if (this.#pendingMoof !== undefined && endsData(this.#pendingMoof, type))
        return this.#release()
      if (type === MOOF && size <= MAX_MOOF_BYTES) {
        if (!this.#window.has(start, size)) return this.#request(start, size)
        const bytes = this.#view(start, size)
        // Its size is wrong. A shorter file would not have all of it, and be searched, too.
        if (containsMoof(bytes)) return this.#startSearch('unfinished')
        const box = parseBox({ bytes, start, parentEnd: end })
        this.#pendingMoof = { kind: 'moof', box, bytes, dataEnd: Infinity }
      }
      this.position = end
      this.#previousBox = type === MOOF || end - start > MAX_UNVERIFIED_BYTES ? NaN : start
      if (type === MDAT && this.#pendingMoof !== undefined) this.#pendingMoof.dataEnd = end
      if (type === MOOV) {
        const bytes = this.#view(start, length)
        return { kind: 'moov', box: parseBox({ bytes, start, parentEnd: end }) }
      }
    }
    if (this.#pendingMoof !== undefined) {
      const { dataEnd } = this.#pendingMoof
      if (this.position >= sizeBytes && dataEnd !== this.#found)
        this.#pendingMoof.dataEnd = Infinity
      return this.#release()
    }
    if (this.position < this.#to && this.#to === sizeBytes) {
      this.skip({ kind: 'truncated', from: this.position, to: sizeBytes })
      this.position = this.#to
    }
    return undefined
  }

  #view(position: number, length: number): DataView {
    const { buffer, byteOffset } = this.#window.view(position, length)
    return new DataView(buffer, byteOffset, length)
  }

  #release(): WalkedMoof | undefined {
    const pendingMoof = this.#pendingMoof
    this.#pendingMoof = undefined
    return pendingMoof
  }

  /**
   * Starts a search where no complete box is. A corrupt size of the previous box may have skipped
   * fragments, so the search starts there: while the file is shorter, they would be found too.
   */
  #startSearch(cause: 'unfinished' | 'invalid'): 'more' {
    this.#searchStart = this.position
    this.#suspectBox = cause === 'invalid' ? this.#previousBox : NaN
    if (!Number.isNaN(this.#suspectBox)) {
      this.position = this.#suspectBox
      if (this.#pendingMoof !== undefined && this.#pendingMoof.dataEnd > this.#previousBox)
        this.#pendingMoof.dataEnd = Infinity
    }
    this.#previousBox = NaN
    this.#requested = 'search'
    return 'more'
  }

  /** Records skipped bytes. */
  skip(bytes: SkippedBytes): void {
    if (this.skipped.length < MAX_LIMITATIONS) this.skipped.push(bytes)
  }

  /**
   * Size of the box at `start`, with `length` bytes of its header in the window; 0 if there is no
   * box. An mdat of size 0 (to the end) is searched instead, because fragments may have been
   * appended.
   */
  #boxSize(start: number, length: number): number {
    const size = this.#window.uint32(start)
    if (!isPrintable(this.#window.uint32(start + 4))) return 0
    if (size !== 1) return size >= 8 ? size : 0
    if (length < HEADER_BYTES) return 0
    const long = this.#window.uint32(start + 8) * 2 ** 32 + this.#window.uint32(start + 12)
    return long >= HEADER_BYTES ? long : 0
  }

  /** Reads what `next` requires. */
  async load(): Promise<void> {
    this.#signal?.throwIfAborted()
    if (this.#requested === 'search') await this.#search()
    else await this.#window.need(this.#requested.offset, this.#requested.length)
  }

  #request(offset: number, length: number): 'more' {
    this.#requested = { offset, length }
    return 'more'
  }

  /** Searches for the next moof after corrupt bytes, or to the end of the file. */
  async #search(): Promise<void> {
    const kind = this.#boxKind(this.#searchStart)
    const end = Math.min(this.#to, this.position + MAX_RESYNC_BYTES)
    for (let from = this.position + 8; from < end; from += SEARCH_BYTES - MOOF_MARK.length) {
      this.#signal?.throwIfAborted()
      const length = Math.min(SEARCH_BYTES, end - from)
      const found = Buffer.from(await readExactly(this.#file, from, length)).indexOf(MOOF_MARK)
      if (found < 0) continue
      this.#found = from + found - 4
      return this.#resumeAt(this.#found, kind === 'open' ? kind : 'noise')
    }
    this.#resumeAt(this.#to, kind)
  }

  /** Why the search started at a position. `open`: a box of size 0 (to the end). */
  #boxKind(start: number): 'open' | 'truncated' | 'noise' {
    if (!isPrintable(this.#window.uint32(start + 4))) return 'noise'
    if (this.#window.uint32(start) === 0) return 'open'
    const rest = this.#file.stat.sizeBytes - start
    return this.#boxSize(start, Math.min(HEADER_BYTES, rest)) > 0 || rest < HEADER_BYTES
      ? 'truncated'
      : 'noise'
  }

  /** Resumes after corrupt bytes. The data of the pending fragment must end before. */
  #resumeAt(position: number, kind: 'open' | SkippedBytes['kind']): void {
    // A fragment in the box before shows that its size is wrong. A shorter file would report it.
    if (position < this.#searchStart) {
      this.skip({ kind: 'noise', from: this.#suspectBox, to: position })
    } else if (kind !== 'open' && position > this.#searchStart) {
      this.skip({ kind, from: this.#searchStart, to: position })
    }
    this.position = position
    if (this.#pendingMoof?.dataEnd === Infinity) this.#pendingMoof.dataEnd = position
  }
}

/** Whether another moof starts in the bytes of one. */
function containsMoof({ buffer, byteOffset, byteLength }: DataView): boolean {
  return Buffer.from(buffer, byteOffset, byteLength).includes(MOOF_MARK, SHORT_HEADER_BYTES)
}

/** Whether a box of this type ends a fragment's data: any box except mdat, after the first mdat. */
function endsData({ dataEnd }: WalkedMoof, type: number): boolean {
  return type === MOOF || type === MOOV || (type !== MDAT && dataEnd !== Infinity)
}

export interface WalkRange {
  from: number
  to: number
  signal?: AbortSignal
}

/** Whether a box type has four printable characters; Apple's may start with a copyright sign. */
function isPrintable(type: number): boolean {
  for (let shift = 0; shift < 32; shift += 8) {
    const code = (type >>> shift) & 0xff
    if ((code < 0x20 || code > 0x7e) && code !== 0xa9) return false
  }
  return true
}

/** More samples than this are not just the first seconds of a fragmented recording. */
const MAX_FIRST_SAMPLES = 2 ** 16

/**
 * Whether the samples are or will be in fragments: if the movie lists few itself, the first
 * fragment may not be written yet.
 */
export async function hasFragments({ file, signal }: FileWindow, movie: Movie): Promise<boolean> {
  if (movie.fragmentDefaults === undefined) return false
  const samples = movie.tracks.reduce((sum, { tables }) => sum + tables.sampleCount, 0)
  if (samples <= MAX_FIRST_SAMPLES) return true
  const walk = new FragmentWalk(file, { from: movie.box.end, to: file.stat.sizeBytes, signal })
  for (let item = walk.next(); item !== undefined; item = walk.next()) {
    if (item === 'more') await walk.load()
    else if (item.kind === 'moof') return true
  }
  return false
}

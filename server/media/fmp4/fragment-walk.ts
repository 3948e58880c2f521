// Goes through the top-level boxes of a file in order and stops at movies and fragments; finds its way again behind damage.
import { AppError } from '../../errors.ts'
import { readExactly } from '../../storage/read-exactly.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { MAX_LIMITATIONS } from '../media-index.ts'
import { type Box, parseBox } from '../mp4/box.ts'
import { ReadWindow } from '../../storage/read-window.ts'
import {
  MAX_DOUBTED_BYTES,
  MAX_MOOF_BYTES,
  MAX_RESYNC_BYTES,
  MAX_TOP_BOXES,
} from './fmp4-limits.ts'

/** A moof with all its bytes, or a moov that lies wholly in the file. */
export type WalkedBox = WalkedMoof | { kind: 'moov'; box: Box }

export interface WalkedMoof {
  kind: 'moof'
  box: Box
  bytes: DataView
  /** Its samples lie before this position: the end of the mdat boxes behind it. Infinity where more may be written. */
  dataEnd: number
}

/** Bytes that are passed over; `cut-off`: a box that reaches behind the end; `fragment`: a moof that contradicts itself. */
export interface SkippedBytes {
  kind: 'cut-off' | 'noise' | 'fragment'
  from: number
  to: number
}

/** Small reads where fragments are large and the next header is far away; large ones where they are small. */
const WINDOW = { readBytes: 16 * 1024, largestReadBytes: 1024 * 1024, memory: 'fresh' } as const
const HEADER_BYTES = 16
const MOOF = 0x6d_6f_6f_66
const MOOV = 0x6d_6f_6f_76
const MDAT = 0x6d_64_61_74
const SEARCH_BYTES = 1024 * 1024
/** What a moof begins with behind its size: its type, and an mfhd of 16 bytes. */
const MOOF_MARK = Buffer.from('moof\0\0\0\x10mfhd', 'latin1')

/** Walks over boxes that begin at or behind `from` and before `to`. */
export class FragmentWalk {
  /** Where the next box begins. */
  position: number
  /** The first of what was passed over, at most MAX_NOTES. */
  readonly skipped: SkippedBytes[] = []
  readonly #file: OpenFile
  readonly #to: number
  readonly #signal: AbortSignal | undefined
  readonly #window: ReadWindow
  #boxes = 0
  /** A fragment whose data is still passed: only then it is known how far that goes. */
  #held: WalkedMoof | undefined
  /** The box passed last, by its size. */
  #passed = NaN
  /** Where there was no box last. */
  #lostAt = 0
  #wanted: { offset: number; length: number } | 'search' = 'search'

  constructor(file: OpenFile, { from, to, signal }: WalkRange) {
    this.#file = file
    this.position = from
    this.#to = Math.min(to, file.stat.sizeBytes)
    this.#signal = signal
    this.#window = new ReadWindow(file, WINDOW)
  }

  /** The next movie or fragment, as far as that needs no read: `more` asks for `load`; undefined at the end. */
  next(): WalkedBox | 'more' | undefined {
    const { sizeBytes } = this.#file.stat
    while (this.position + 8 <= this.#to) {
      const start = this.position
      const length = Math.min(HEADER_BYTES, sizeBytes - start)
      if (!this.#window.has(start, length)) return this.#ask(start, length)
      this.#boxes += 1
      if (this.#boxes > MAX_TOP_BOXES) {
        throw new AppError('unplayable', 'the file has too many boxes')
      }
      const size = this.#boxSize(start, length)
      const end = start + size
      const type = this.#window.uint32(start + 4)
      if (size === 0 || end > sizeBytes) {
        const isUnfinished = size !== 0 && (type === MOOF || type === MDAT)
        return this.#lose(isUnfinished ? 'unfinished' : 'broken')
      }
      if (this.#held !== undefined && endsData(this.#held, type)) return this.#release()
      if (type === MOOF && size <= MAX_MOOF_BYTES) {
        if (!this.#window.has(start, size)) return this.#ask(start, size)
        const bytes = this.#view(start, size)
        const box = parseBox({ bytes, start, parentEnd: end })
        this.#held = { kind: 'moof', box, bytes, dataEnd: Infinity }
      }
      this.position = end
      this.#passed = type === MOOF || end - start > MAX_DOUBTED_BYTES ? NaN : start
      if (type === MDAT && this.#held !== undefined) this.#held.dataEnd = end
      if (type === MOOV) {
        const bytes = this.#view(start, length)
        return { kind: 'moov', box: parseBox({ bytes, start, parentEnd: end }) }
      }
    }
    if (this.#held !== undefined) {
      if (this.position >= sizeBytes) this.#held.dataEnd = Infinity
      return this.#release()
    }
    if (this.position < this.#to && this.#to === sizeBytes) {
      this.skip({ kind: 'cut-off', from: this.position, to: sizeBytes })
      this.position = this.#to
    }
    return undefined
  }

  #view(position: number, length: number): DataView {
    const { buffer, byteOffset } = this.#window.view(position, length)
    return new DataView(buffer, byteOffset, length)
  }

  #release(): WalkedMoof | undefined {
    const held = this.#held
    this.#held = undefined
    return held
  }

  /**
   * There is no box here, or none that is whole. Where the one before led here by a wrong size, fragments may lie in it:
   * as they are found while the file is not as long yet.
   */
  #lose(why: 'unfinished' | 'broken'): 'more' {
    this.#lostAt = this.position
    if (why === 'broken' && !Number.isNaN(this.#passed)) {
      this.position = this.#passed
      if (this.#held !== undefined && this.#held.dataEnd > this.#passed)
        this.#held.dataEnd = Infinity
    }
    this.#passed = NaN
    this.#wanted = 'search'
    return 'more'
  }

  /** Notes what is passed over. */
  skip(bytes: SkippedBytes): void {
    if (this.skipped.length < MAX_LIMITATIONS) this.skipped.push(bytes)
  }

  /**
   * Size of the box at `start`, of whose header so many bytes are in view; 0 where there is none. An mdat without a size
   * (0, to the end) may have fragments in it that were written later: it counts as none, and is searched.
   */
  #boxSize(start: number, length: number): number {
    const size = this.#window.uint32(start)
    if (!isPrintable(this.#window.uint32(start + 4))) return 0
    if (size !== 1) return size >= 8 ? size : 0
    if (length < HEADER_BYTES) return 0
    const long = this.#window.uint32(start + 8) * 2 ** 32 + this.#window.uint32(start + 12)
    return long >= HEADER_BYTES ? long : 0
  }

  /** Reads what `next` asked for. */
  async load(): Promise<void> {
    this.#signal?.throwIfAborted()
    if (this.#wanted === 'search') await this.#search()
    else await this.#window.need(this.#wanted.offset, this.#wanted.length)
  }

  #ask(offset: number, length: number): 'more' {
    this.#wanted = { offset, length }
    return 'more'
  }

  /**
   * Looks for the next moof where a box is no box, or reaches behind the end: bytes in between are damaged, or the file
   * ends here.
   */
  async #search(): Promise<void> {
    const kind = this.#boxKind(this.#lostAt)
    const end = Math.min(this.#to, this.position + MAX_RESYNC_BYTES)
    for (let from = this.position + 8; from < end; from += SEARCH_BYTES - MOOF_MARK.length) {
      this.#signal?.throwIfAborted()
      const length = Math.min(SEARCH_BYTES, end - from)
      const found = Buffer.from(await readExactly(this.#file, from, length)).indexOf(MOOF_MARK)
      if (found >= 0) return this.#goOnAt(from + found - 4, kind === 'open' ? kind : 'noise')
    }
    this.#goOnAt(this.#to, kind)
  }

  /** What is at a position from where it has to be searched: `open` is a box without a size (0, to the end). */
  #boxKind(start: number): 'open' | 'cut-off' | 'noise' {
    if (!isPrintable(this.#window.uint32(start + 4))) return 'noise'
    if (this.#window.uint32(start) === 0) return 'open'
    const rest = this.#file.stat.sizeBytes - start
    return this.#boxSize(start, Math.min(HEADER_BYTES, rest)) > 0 || rest < HEADER_BYTES
      ? 'cut-off'
      : 'noise'
  }

  /** Behind damage. Data of a fragment that was lost in it can only lie before. */
  #goOnAt(position: number, kind: 'open' | SkippedBytes['kind']): void {
    if (kind !== 'open' && position > this.#lostAt) {
      this.skip({ kind, from: this.#lostAt, to: position })
    }
    this.position = position
    if (this.#held?.dataEnd === Infinity) this.#held.dataEnd = position
  }
}

/** Whether a box of this type ends the data of a fragment: what is not mdat, once there was one. */
function endsData({ dataEnd }: WalkedMoof, type: number): boolean {
  return type === MOOF || type === MOOV || (type !== MDAT && dataEnd !== Infinity)
}

export interface WalkRange {
  from: number
  to: number
  signal?: AbortSignal
}

/** Whether a box type is four characters as people write them; Apple's begin with a copyright sign. */
function isPrintable(type: number): boolean {
  for (let shift = 0; shift < 32; shift += 8) {
    const code = (type >>> shift) & 0xff
    if ((code < 0x20 || code > 0x7e) && code !== 0xa9) return false
  }
  return true
}

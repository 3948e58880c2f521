// Goes through the top-level boxes of a file in order and stops at movies and fragments; finds its way again behind damage.
import { AppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { type Box, parseBox } from '../mp4/box.ts'
import { readExactly } from '../mp4/file-window.ts'
import { MAX_MOOF_BYTES, MAX_RESYNC_BYTES, MAX_TOP_BOXES } from './fmp4-limits.ts'
import { FragmentWindow } from './fragment-window.ts'

/** A moof with all its bytes, or a moov that lies wholly in the file. */
export type WalkedBox = { kind: 'moof'; box: Box; bytes: DataView } | { kind: 'moov'; box: Box }

const HEADER_BYTES = 16
const SEARCH_BYTES = 1024 * 1024
/** What a moof begins with behind its size: its type, and an mfhd of 16 bytes. */
const MOOF_MARK = Buffer.from('moof\0\0\0\x10mfhd', 'latin1')

/** Walks over boxes that begin at or behind `from` and before `to`. */
export class FragmentWalk {
  /** Where the next box begins. */
  position: number
  readonly #file: OpenFile
  readonly #to: number
  readonly #signal: AbortSignal | undefined
  readonly #window: FragmentWindow
  #boxes = 0
  #wanted: { offset: number; length: number } | 'search' = 'search'

  constructor(file: OpenFile, { from, to, signal }: WalkRange) {
    this.#file = file
    this.position = from
    this.#to = Math.min(to, file.stat.sizeBytes)
    this.#signal = signal
    this.#window = new FragmentWindow(file)
  }

  /** The next movie or fragment, as far as that needs no read: `more` asks for `load`; undefined at the end. */
  next(): WalkedBox | 'more' | undefined {
    const { sizeBytes } = this.#file.stat
    while (this.position + 8 <= this.#to) {
      const start = this.position
      const length = Math.min(HEADER_BYTES, sizeBytes - start)
      if (!this.#window.has(start, length)) return this.#ask(start, length)
      this.#boxes += 1
      if (this.#boxes > MAX_TOP_BOXES)
        throw new AppError('unplayable', 'the file has too many boxes')
      const box = headerAt(this.#window.view(start, length), start, sizeBytes)
      if (box === undefined || box.end > sizeBytes || box.end === box.start) {
        this.#wanted = 'search'
        return 'more'
      }
      const size = box.end - start
      if (box.type === 'moof' && size <= MAX_MOOF_BYTES) {
        if (!this.#window.has(start, size)) return this.#ask(start, size)
        this.position = box.end
        return { kind: 'moof', box, bytes: this.#window.view(start, size) }
      }
      this.position = box.end
      if (box.type === 'moov') return { kind: 'moov', box }
    }
    return undefined
  }

  /** Reads what `next` asked for. */
  async load(): Promise<void> {
    this.#signal?.throwIfAborted()
    if (this.#wanted === 'search') await this.#search()
    else await this.#window.load(this.#wanted.offset, this.#wanted.length)
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
    const end = Math.min(this.#to, this.position + MAX_RESYNC_BYTES)
    for (let from = this.position + 8; from < end; from += SEARCH_BYTES - MOOF_MARK.length) {
      this.#signal?.throwIfAborted()
      const length = Math.min(SEARCH_BYTES, end - from)
      const found = Buffer.from(await readExactly(this.#file, from, length)).indexOf(MOOF_MARK)
      if (found < 0) continue
      this.position = from + found - 4
      return
    }
    this.position = this.#to
  }
}

export interface WalkRange {
  from: number
  to: number
  signal?: AbortSignal
}

/** Undefined where the bytes are no header. A size of 0 reaches to the end, as only that of an mdat may. */
function headerAt(bytes: DataView, start: number, fileBytes: number): Box | undefined {
  const isPlain = [4, 5, 6, 7].every((at) => {
    const code = bytes.getUint8(at)
    return (code >= 0x20 && code < 0x7f) || code === 0xa9
  })
  if (!isPlain) return undefined
  try {
    const box = parseBox({ bytes, start, parentEnd: fileBytes })
    // An mdat without a size may have fragments in it that were written later: it is searched.
    return bytes.getUint32(0) === 0 ? undefined : box
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

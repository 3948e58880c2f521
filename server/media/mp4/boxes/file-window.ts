// Reads the box structure of an open MP4 file through one read window.
import { UnplayableError, checkLimit } from '../../../base/errors.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { ReadWindow } from '../../../storage/recordings/read-window.ts'
import { type Box, LONG_HEADER_BYTES, SHORT_HEADER_BYTES, parseBox, invalidBox } from './box.ts'
import { MAX_BOXES, MAX_SLICE_BYTES } from '../mp4-limits.ts'

/** Smallest read: neighbouring headers and small tables come with the first of them. */
const WINDOW_BYTES = 32 * 1024

/** Counts the boxes it reads, up to MAX_BOXES. */
export class FileWindow {
  readonly file: OpenFile
  readonly signal: AbortSignal
  readonly #window: ReadWindow
  #boxes = 0

  constructor(file: OpenFile, signal: AbortSignal) {
    this.file = file
    this.signal = signal
    this.#window = new ReadWindow(file, { readBytes: WINDOW_BYTES, memory: 'fresh', signal })
  }

  get sizeBytes(): number {
    return this.file.stat.sizeBytes
  }

  /** Bytes of the file. Throws `unplayable` beyond its end, or for more than MAX_SLICE_BYTES. */
  async view(offset: number, length: number): Promise<DataView> {
    this.signal.throwIfAborted()
    if (!(length <= MAX_SLICE_BYTES) || !(offset >= 0) || offset + length > this.sizeBytes) {
      throw new UnplayableError({
        code: 'file-truncated',
        offsetBytes: this.sizeBytes,
        neededBytes: offset + length,
      })
    }
    await this.#window.need(offset, length)
    const bytes = this.#window.view(offset, length)
    return new DataView(bytes.buffer, bytes.byteOffset, length)
  }

  /** The box at `start`; its end may exceed `parentEnd`. Undefined if fewer than 8 bytes remain. */
  async boxAt(start: number, parentEnd: number): Promise<Box | undefined> {
    if (parentEnd - start < SHORT_HEADER_BYTES) return undefined
    this.#boxes += 1
    checkLimit('boxes', MAX_BOXES, this.#boxes)
    const bytes = await this.view(start, Math.min(LONG_HEADER_BYTES, parentEnd - start))
    return parseBox({ bytes, start, parentEnd })
  }

  /** The first bytes of a box's content. Throws `unplayable` if it has fewer. */
  async content(box: Box, length: number): Promise<DataView> {
    if (box.end - box.contentStart < length) throw invalidBox(box, 'too-small')
    return this.view(box.contentStart, length)
  }

  /**
   * The boxes in a box, from `contentStart`. A size of 0 ends the list, as in QuickTime. Throws
   * `unplayable` for a child that exceeds its parent.
   */
  async children(parent: Box): Promise<Box[]> {
    const children: Box[] = []
    let start = parent.contentStart
    for (;;) {
      const box = await this.boxAt(start, parent.end)
      if (box === undefined || (await this.view(start, 4)).getUint32(0) === 0) return children
      if (box.end > parent.end) throw invalidBox(box, 'exceeds-parent')
      children.push(box)
      start = box.end
    }
  }
}

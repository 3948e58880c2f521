// Plans how a segment's parts are read: in the order of the file, although they are sent in another. Pure.
import type { Part, RangePart } from '../media/media-reader.ts'

/**
 * One stretch of a body. `scatter`: ranges of `main` are sent first and those of `late` behind them, but both lie
 * among each other in the file and are read in one go.
 */
export type Pass =
  | { kind: 'bytes'; bytes: Uint8Array }
  | { kind: 'packets'; range: RangePart }
  | { kind: 'scatter'; main: readonly RangePart[]; late: readonly RangePart[]; lateBytes: number }

/** More than this is not held back in memory: it is read in a pass of its own. Two minutes of 256 kbit/s sound. */
const MAX_LATE_BYTES = 4 * 1024 * 1024

/** Groups the parts into passes, in the order they are sent. */
export function planPasses(parts: readonly Part[]): Pass[] {
  const passes: Pass[] = []
  let stretch: RangePart[] = []
  const flush = (): void => {
    passes.push(...scatterPasses(ascendingRuns(stretch)))
    stretch = []
  }
  for (const part of parts) {
    if (part.kind === 'range' && part.packing === undefined) {
      stretch.push(part)
    } else {
      flush()
      passes.push(part.kind === 'bytes' ? part : { kind: 'packets', range: part })
    }
  }
  flush()
  return passes
}

/** Splits ranges wherever the file position goes back. */
function ascendingRuns(ranges: readonly RangePart[]): RangePart[][] {
  const runs: RangePart[][] = []
  let endOfLast = Infinity
  for (const range of ranges) {
    if (range.offset < endOfLast) runs.push([])
    runs.at(-1)?.push(range)
    endOfLast = range.offset + range.length
  }
  return runs
}

function scatterPasses(runs: readonly RangePart[][]): Pass[] {
  const passes: Pass[] = []
  for (let i = 0; i < runs.length; i += 1) {
    const main = runs[i] ?? []
    const late = runs[i + 1] ?? []
    const lateBytes = late.reduce((sum, range) => sum + range.length, 0)
    if (lateBytes > MAX_LATE_BYTES) {
      passes.push({ kind: 'scatter', main, late: [], lateBytes: 0 })
    } else {
      passes.push({ kind: 'scatter', main, late, lateBytes })
      i += 1
    }
  }
  return passes
}

/** One read of consecutive bytes, spread over buffers. */
export interface ScatterRead {
  position: number
  buffers: Uint8Array[]
  /** Bytes that went to the main and to the late buffer. */
  mainBytes: number
  lateBytes: number
}

/** A hole up to this size is read over rather than split into two reads. */
const MAX_GAP_BYTES = 32 * 1024
/** Bytes of one read, holes and late bytes included; and pieces of one read (IOV_MAX is 1024). */
const MAX_READ_BYTES = 1024 * 1024
const MAX_SEGMENTS = 1000

/** Room for bytes that nobody wants. */
export const DISCARD_BYTES = MAX_GAP_BYTES

/** Walks two ascending lists of ranges in the order of the file. */
export class ScatterCursor {
  readonly #main: RangeCursor
  readonly #late: RangeCursor

  constructor(main: readonly RangePart[], late: readonly RangePart[]) {
    this.#main = new RangeCursor(main)
    this.#late = new RangeCursor(late)
  }

  /** The next bytes to be sent, up to the end of their range, where none that are sent later lie among them. */
  get alone(): { offset: number; length: number } | undefined {
    const { offset, remaining } = this.#main
    return this.#late.offset < offset + remaining ? undefined : { offset, length: remaining }
  }

  /** Goes on behind so many of the bytes of `alone`. */
  skip(length: number): void {
    this.#main.advance(length)
  }

  /** The next read; undefined when everything was read. `late` is what of the late buffer is still free. */
  next(room: { main: Uint8Array; late: Uint8Array; discard: Uint8Array }): ScatterRead | undefined {
    const read: ScatterRead = { position: -1, buffers: [], mainBytes: 0, lateBytes: 0 }
    let end = -1
    while (read.buffers.length < MAX_SEGMENTS && end - read.position < MAX_READ_BYTES) {
      const isMain = this.#main.offset < this.#late.offset
      const cursor = isMain ? this.#main : this.#late
      if (cursor.isDone) break
      const gap = end === -1 ? 0 : cursor.offset - end
      if (gap < 0 || gap > MAX_GAP_BYTES) break
      const filled = isMain ? read.mainBytes : read.lateBytes
      const free = isMain ? room.main : room.late
      const length = Math.min(cursor.remaining, free.length - filled)
      if (length === 0) break
      if (end === -1) read.position = cursor.offset
      if (gap > 0) read.buffers.push(room.discard.subarray(0, gap))
      read.buffers.push(free.subarray(filled, filled + length))
      end = cursor.offset + length
      cursor.advance(length)
      if (isMain) read.mainBytes += length
      else read.lateBytes += length
    }
    return read.buffers.length === 0 ? undefined : read
  }
}

class RangeCursor {
  readonly #ranges: readonly RangePart[]
  #index = 0
  #taken = 0

  constructor(ranges: readonly RangePart[]) {
    this.#ranges = ranges
  }

  get isDone(): boolean {
    return this.#index >= this.#ranges.length
  }

  /** File position of the next byte; Infinity at the end. */
  get offset(): number {
    const range = this.#ranges[this.#index]
    return range === undefined ? Infinity : range.offset + this.#taken
  }

  /** Bytes left in the current range. */
  get remaining(): number {
    const range = this.#ranges[this.#index]
    return range === undefined ? 0 : range.length - this.#taken
  }

  advance(length: number): void {
    this.#taken += length
    if (this.remaining === 0) {
      this.#index += 1
      this.#taken = 0
    }
  }
}

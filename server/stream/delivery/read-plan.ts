// Plans the reads of a segment's parts: in file order, although they are sent in another. Pure.
import type { Part, RangePart } from '../../media/media-reader.ts'

/**
 * One group of parts. `scatter`: all `main` ranges are sent before all `late` ranges, but they are
 * interleaved in the file and read together.
 */
export type Pass =
  | { kind: 'bytes'; bytes: Uint8Array }
  | { kind: 'packets'; range: RangePart }
  | { kind: 'scatter'; main: readonly RangePart[]; late: readonly RangePart[]; lateBytes: number }

/** More late bytes than this get their own pass. It is two minutes of audio at 256 kbit/s. */
const MAX_LATE_BYTES = 4 * 1024 * 1024

/** Groups the parts into passes, in send order. */
export function planPasses(parts: readonly Part[]): Pass[] {
  const passes: Pass[] = []
  let ranges: RangePart[] = []
  const flush = (): void => {
    for (const pass of scatterPasses(ascendingRuns(ranges))) passes.push(pass)
    ranges = []
  }
  for (const part of parts) {
    if (part.kind === 'range' && part.packing === undefined) {
      ranges.push(part)
    } else {
      flush()
      passes.push(part.kind === 'bytes' ? part : { kind: 'packets', range: part })
    }
  }
  flush()
  return passes
}

/** Splits the ranges wherever the file position decreases. */
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

/** Gaps up to this size are joined: skipping them is faster than another request to a store. */
const MAX_JOINED_GAP_BYTES = 256 * 1024

/** The bytes that a pass reads, in file order and without short gaps. */
export function readRuns(ranges: readonly RangePart[]): { offset: number; length: number }[] {
  const runs: { offset: number; length: number }[] = []
  for (const { offset, length } of ranges.toSorted((a, b) => a.offset - b.offset)) {
    const last = runs.at(-1)
    if (last === undefined || offset - last.offset - last.length > MAX_JOINED_GAP_BYTES) {
      runs.push({ offset, length })
    } else {
      last.length = Math.max(last.length, offset + length - last.offset)
    }
  }
  return runs
}

/** One read of consecutive bytes into several buffers. */
export interface ScatterRead {
  position: number
  buffers: Uint8Array[]
  /** Bytes for the main and for the late buffer. */
  mainBytes: number
  lateBytes: number
}

/** A gap up to this size is read and discarded, instead of splitting the read. */
const MAX_GAP_BYTES = 32 * 1024
/** Bytes of one read, with gaps and late bytes. */
const MAX_READ_BYTES = 1024 * 1024
/** Buffers of one read (IOV_MAX is 1024). */
const MAX_BUFFERS = 1000

export const DISCARD_BYTES = MAX_GAP_BYTES

/** Walks two ascending lists of ranges in file order. */
export class ScatterCursor {
  readonly #main: RangeCursor
  readonly #late: RangeCursor

  constructor(main: readonly RangePart[], late: readonly RangePart[]) {
    this.#main = new RangeCursor(main)
    this.#late = new RangeCursor(late)
  }

  /** The rest of the current main range, if no late bytes are in or before it. */
  get contiguous(): { offset: number; length: number } | undefined {
    const { offset, remaining } = this.#main
    return this.#late.offset < offset + remaining ? undefined : { offset, length: remaining }
  }

  /** Continues after this number of bytes of `contiguous`. */
  skip(length: number): void {
    this.#main.advance(length)
  }

  /**
   * The next read; undefined after the last one.
   *
   * @param room `late` is the part of the late buffer that is still free
   */
  next(room: { main: Uint8Array; late: Uint8Array; discard: Uint8Array }): ScatterRead | undefined {
    const read: ScatterRead = { position: -1, buffers: [], mainBytes: 0, lateBytes: 0 }
    let end = -1
    while (read.buffers.length < MAX_BUFFERS && end - read.position < MAX_READ_BYTES) {
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

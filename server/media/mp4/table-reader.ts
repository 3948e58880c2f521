// Reads the entries of a table in order, a slice of the file at a time, so that no table is ever in memory whole.
import type { OpenFile } from '../../storage/storage.ts'
import { readExactly } from './file-window.ts'
import { MAX_SLICE_BYTES } from './mp4-limits.ts'
import { type Table, tableBytes } from './sample-tables.ts'

/** How far a reader is expected to go. */
export interface ReadPlan {
  /** First entry that is wanted. */
  from: number
  /** Entries that are likely wanted: the size of the first read. More are read when asked for. */
  expected: number
  signal?: AbortSignal | undefined
}

/** Smallest read once the expected entries are used up. */
const NEXT_ENTRIES = 4096

/** A moving view of a table. `has` and `field` are cheap and synchronous; `load` reads where the view ends. */
export class TableReader {
  readonly table: Table
  readonly #file: OpenFile
  readonly #signal: AbortSignal | undefined
  #expectedEnd: number
  #view: DataView = new DataView(new ArrayBuffer(0))
  #viewStart = 0
  #from = 0
  #to = 0

  constructor(file: OpenFile, table: Table, { from, expected, signal }: ReadPlan) {
    this.#file = file
    this.table = table
    this.#signal = signal
    this.#expectedEnd = from + expected
  }

  /** Whether the entry can be had without a read. */
  has(index: number): boolean {
    return index >= this.#from && index < this.#to
  }

  /** Makes an entry of the table, and as many behind it as are expected, available. */
  async load(index: number): Promise<void> {
    if (this.has(index) || index >= this.table.count) return
    this.#signal?.throwIfAborted()
    const wanted = Math.max(this.#expectedEnd - index, NEXT_ENTRIES)
    const most = Math.floor((MAX_SLICE_BYTES * 8) / this.table.entryBits)
    const to = Math.min(this.table.count, index + Math.min(wanted, most))
    const { start, length } = tableBytes(this.table, index, to)
    const bytes =
      this.table.inline?.subarray(start, start + length) ??
      (await readExactly(this.#file, this.table.offset + start, length))
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#viewStart = start
    this.#from = index
    this.#to = to
  }

  /** A 32-bit field of an available entry; for entries of fewer bits the entry itself. */
  field(index: number, field: number): number {
    switch (this.table.entryBits) {
      case 4: {
        const byte = this.#view.getUint8((index >> 1) - this.#viewStart)
        return index % 2 === 0 ? byte >> 4 : byte & 15
      }
      case 8:
        return this.#view.getUint8(index - this.#viewStart)
      case 16:
        return this.#view.getUint16(index * 2 - this.#viewStart)
      case 32:
        return this.#view.getUint32(index * 4 - this.#viewStart)
      case 64:
        return this.#view.getUint32(index * 8 + field * 4 - this.#viewStart)
      case 96:
        return this.#view.getUint32(index * 12 + field * 4 - this.#viewStart)
    }
  }
}

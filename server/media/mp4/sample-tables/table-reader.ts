// Reads the entries of a table in order, a slice of the file at a time, so that no table is ever in memory whole.
import type { OpenFile } from '../../../storage/storage.ts'
import { MAX_SLICE_BYTES } from '../mp4-limits.ts'
import type { Table } from './sample-tables.ts'
import { readEntries } from './table-entries.ts'

/** How far a reader is expected to go. */
export interface ReadPlan {
  /** Entries that are likely wanted: the size of the first read. More are read when asked for. */
  expected: number
  signal: AbortSignal
}

/** Smallest read once the expected entries are used up. */
const NEXT_ENTRIES = 4096

/** A moving view of a table. `has` and `field` are cheap and synchronous; `load` reads where the view ends. */
export class TableReader {
  readonly table: Table
  /** Words of the entries in view: `wordsEach` for each entry from `from` on, and `to` the entry behind the last. */
  words: Uint32Array = new Uint32Array()
  from = 0
  to = 0
  readonly wordsEach: number
  readonly #file: OpenFile
  readonly #plan: ReadPlan

  constructor(file: OpenFile, table: Table, plan: ReadPlan) {
    this.#file = file
    this.table = table
    this.#plan = plan
    this.wordsEach = Math.ceil(table.entryBits / 32)
  }

  /** Whether the entry can be had without a read. */
  has(index: number): boolean {
    return index >= this.from && index < this.to
  }

  /** Makes an entry of the table, and as many behind it as are expected, available. */
  async load(index: number): Promise<void> {
    if (!this.has(index) && index < this.table.count) await this.loadFrom(index)
  }

  /** Makes the view begin with an entry of the table. */
  async loadFrom(index: number): Promise<void> {
    const { table } = this
    this.#plan.signal.throwIfAborted()
    const wanted = Math.max(this.#plan.expected - index, NEXT_ENTRIES)
    const most = Math.floor((MAX_SLICE_BYTES * 8) / Math.max(table.entryBits, 32))
    const to = Math.min(table.count, index + Math.min(wanted, most))
    this.words = await readEntries(this.#file, table, { from: index, to })
    this.from = index
    this.to = to
  }

  /** A 32-bit field of an available entry; for entries of fewer bits the entry itself. */
  field(index: number, field: number): number {
    return this.words[(index - this.from) * this.wordsEach + field] ?? 0
  }
}

// Reads the entries of a table sequentially, one slice of the file at a time, so that no large
// table is in memory.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { MAX_SLICE_BYTES } from '../mp4-limits.ts'
import type { Table } from './sample-tables.ts'
import { readEntries } from './table-entries.ts'

/** How far the caller expects to read. */
export interface ReadPlan {
  /** Size of the first read in entries; more are read on demand. */
  expected: number
  signal: AbortSignal
}

/** Smallest read after the expected entries. */
const NEXT_ENTRIES = 4096

/**
 * A moving window on a table. `has` and `field` are cheap and synchronous; `load` moves the window.
 */
export class TableReader {
  readonly table: Table
  /**
   * The entries `from` (inclusive) to `to` (exclusive) in the window, as `wordsEach` words each.
   */
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

  /** Whether the entry is in the window. */
  has(index: number): boolean {
    return index >= this.from && index < this.to
  }

  /** Loads an entry, and the expected ones after it. */
  async load(index: number): Promise<void> {
    if (!this.has(index) && index < this.table.count) await this.loadFrom(index)
  }

  /** Moves the window so that it starts with this entry. */
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

  /** A 32-bit field of a loaded entry; entries of fewer bits have one field. */
  field(index: number, field: number): number {
    return this.words[(index - this.from) * this.wordsEach + field] ?? 0
  }
}

// Steps forwards through the key frames of a track (stss, ISO/IEC 14496-12 8.6.2).
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { Table } from './sample-tables.ts'
import { TableReader } from './table-reader.ts'

/** Finds the next key frame. Without a table every sample is one. */
export class SyncWalk {
  readonly isEverySample: boolean
  /** The first key frame at or after the requested sample, from 0; Infinity after the last. */
  sample = 0
  /** Its entry in the table. */
  entry: number | undefined
  readonly #reader: TableReader | undefined

  constructor(file: OpenFile, table: Table | undefined, signal: AbortSignal) {
    this.isEverySample = table === undefined
    if (table === undefined) return
    this.#reader = new TableReader(file, table, { expected: table.count, signal })
    this.entry = 0
  }

  /** Advances to the first key frame at or after `wanted`. */
  async to(wanted: number): Promise<void> {
    this.sample = wanted
    if (this.#reader === undefined || this.entry === undefined) return
    const { count } = this.#reader.table
    for (; this.entry < count; this.entry += 1) {
      const next = Math.min(this.entry + 1, count - 1)
      if (!this.#reader.has(this.entry) || !this.#reader.has(next)) {
        await this.#reader.loadFrom(this.entry)
      }
      this.sample = this.#reader.field(this.entry, 0) - 1
      // Of two numbers that fall, which is a bit error, the first one may be far too large.
      const isFalling = this.#reader.field(next, 0) - 1 < this.sample
      if (this.sample >= wanted && !isFalling) return
    }
    this.sample = Infinity
  }
}

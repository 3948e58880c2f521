// Steps through the numbers of a track's key frames (stss, ISO/IEC 14496-12 8.6.2), forwards.
import type { OpenFile } from '../../../storage/storage.ts'
import type { Table } from './sample-tables.ts'
import { TableReader } from './table-reader.ts'

/** Answers which key frame comes next. Without a table every sample is one. */
export class SyncWalk {
  readonly isEverySample: boolean
  /** The first key frame that is not before the sample asked for, from 0; Infinity behind the last. */
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

  /** Goes on to the first key frame that is not before `wanted`. */
  async to(wanted: number): Promise<void> {
    this.sample = wanted
    if (this.#reader === undefined || this.entry === undefined) return
    const { count } = this.#reader.table
    for (; this.entry < count; this.entry += 1) {
      if (!this.#reader.has(this.entry)) await this.#reader.load(this.entry)
      this.sample = this.#reader.field(this.entry, 0) - 1
      if (this.sample >= wanted) return
    }
    this.sample = Infinity
  }
}

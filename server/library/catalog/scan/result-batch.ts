// Batches inspection results into one transaction, because a transaction costs more than its rows.
import type { CatalogWriter, InspectedRecording } from '../store/catalog-writer.ts'

/** Results per transaction, which bounds how long the event loop is blocked, */
const MAX_RESULTS = 100
/** and how long the first of them waits. */
const MAX_WAIT_MS = 100

export interface ResultBatchOptions {
  writer: CatalogWriter
  /**
   * Called with the results that are no longer held, written or not: what was not written is still
   * pending.
   */
  onLetGo: (inspected: readonly InspectedRecording[]) => void
  /** Results could not be written at the end of their wait. */
  onError: (error: unknown) => void
}

export class ResultBatch {
  readonly #options: ResultBatchOptions
  #held: InspectedRecording[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(options: ResultBatchOptions) {
    this.#options = options
  }

  /** Adds a result, and writes the batch once it is full. @throws database errors */
  add(inspected: InspectedRecording): void {
    this.#held.push(inspected)
    this.#timer ??= setTimeout(() => this.tryWrite(), MAX_WAIT_MS)
    if (this.#held.length >= MAX_RESULTS) this.write()
  }

  /** Writes the batch. @throws database errors */
  write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#held.length === 0) return
    const inspected = this.#held
    this.#held = []
    try {
      this.#options.writer.record(inspected)
    } finally {
      this.#options.onLetGo(inspected)
    }
  }

  /** Writes the batch, and reports an error instead of throwing it. */
  tryWrite(): void {
    try {
      this.write()
    } catch (error) {
      this.#options.onError(error)
    }
  }
}

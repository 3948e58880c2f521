// Results of inspections on their way into the catalog, several in one transaction: one costs more than what is in it.
import type { CatalogWriter, InspectedRecording } from '../store/catalog-writer.ts'

/** Results of one transaction, which bounds how long the event loop stands still, */
const MAX_RESULTS = 100
/** and how long lists wait for the first of them. */
const MAX_WAIT_MS = 100

export interface ResultBatchOptions {
  writer: CatalogWriter
  /** Told of what is not held any more, be it written or not: what could not be written is pending still. */
  onLetGo: (inspected: readonly InspectedRecording[]) => void
  /** Results could not be written when their time was over. */
  onError: (error: unknown) => void
}

export class ResultBatch {
  readonly #options: ResultBatchOptions
  #held: InspectedRecording[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(options: ResultBatchOptions) {
    this.#options = options
  }

  /** Holds a result for a moment. @throws what the database throws, where this one made it write */
  add(inspected: InspectedRecording): void {
    this.#held.push(inspected)
    this.#timer ??= setTimeout(() => this.tryWrite(), MAX_WAIT_MS)
    if (this.#held.length >= MAX_RESULTS) this.write()
  }

  /** Writes what is held. @throws what the database throws */
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

  /** Writes what is held; tells of it where that fails. */
  tryWrite(): void {
    try {
      this.write()
    } catch (error) {
      this.#options.onError(error)
    }
  }
}

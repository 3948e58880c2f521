// One answer of the API that components watch: loaded while somebody watches it, and kept afterwards.

export type LoadState<T> =
  | { status: 'loading' }
  | { status: 'loaded'; value: T }
  | { status: 'failed' }

/** A kept answer older than this is loaded again behind the picture when somebody starts to watch. */
const FRESH_MS = 10_000

/** Loads once for all who watch, stops loading when the last one leaves, and tries again after a failure. */
export class Resource<T> {
  readonly #load: (signal: AbortSignal) => Promise<T>
  readonly #freshMs: number
  readonly #listeners = new Set<() => void>()
  #state: LoadState<T> = { status: 'loading' }
  #loadedAtMs = -Infinity
  #running: AbortController | undefined

  /** `freshMs`: how long a kept answer is good; `Infinity` loads once for ever. */
  constructor(load: (signal: AbortSignal) => Promise<T>, freshMs = FRESH_MS) {
    this.#load = load
    this.#freshMs = freshMs
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0
  }

  /** The present state; the same object until it changes. */
  readonly read = (): LoadState<T> => this.#state

  /** Starts to watch, and to load where there is nothing fresh. Answers the function that ends it. */
  readonly subscribe = (onChange: () => void): (() => void) => {
    const listener = () => onChange()
    this.#listeners.add(listener)
    if (!this.#running && performance.now() - this.#loadedAtMs >= this.#freshMs) this.#start()
    return () => {
      this.#listeners.delete(listener)
      if (this.isWatched) return
      this.#running?.abort()
      this.#running = undefined
    }
  }

  /** The value once nothing is loading any more. Rejects where the load fails or the signal aborts. */
  settled(signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (this.#running && !signal.aborted) return
        stop()
        signal.removeEventListener('abort', check)
        if (signal.aborted) reject(new DOMException('left', 'AbortError'))
        else if (this.#state.status === 'loaded') resolve(this.#state.value)
        else reject(new Error('the list could not be loaded'))
      }
      const stop = this.subscribe(check)
      signal.addEventListener('abort', check)
      check()
    })
  }

  #start(): void {
    const controller = new AbortController()
    this.#running = controller
    if (this.#state.status === 'failed') this.#state = { status: 'loading' }
    void this.#load(controller.signal).then(
      (value) => {
        if (this.#running !== controller) return
        this.#loadedAtMs = performance.now()
        this.#settle({ status: 'loaded', value })
      },
      () => {
        if (this.#running !== controller) return
        this.#settle(this.#state.status === 'loaded' ? this.#state : { status: 'failed' })
      },
    )
  }

  #settle(state: LoadState<T>): void {
    this.#running = undefined
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}

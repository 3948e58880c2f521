// A response of the API that components subscribe to: loaded on the first subscription, then
// cached.

export type LoadState<T> =
  | { status: 'loading' }
  | { status: 'loaded'; value: T }
  | { status: 'failed' }

/** An older value is shown and revalidated in the background on the next subscription. */
const MAX_AGE_MS = 10_000
/** Pause before a value that is incomplete is loaded again. */
const INCOMPLETE_MS = 2000

export interface ResourceOptions<T> {
  /** `Infinity`: the value is loaded once. Default ten seconds. */
  maxAgeMs?: number
  /** A value that is not complete is loaded again while it is watched. Default it is. */
  isComplete?: (value: T) => boolean
}

/** Loads once for all subscribers, aborts when the last one leaves, and retries after a failure. */
export class Resource<T> {
  readonly #load: (signal: AbortSignal) => Promise<T>
  readonly #maxAgeMs: number
  readonly #isComplete: (value: T) => boolean
  readonly #listeners = new Set<() => void>()
  #state: LoadState<T> = { status: 'loading' }
  #loadedAtMs = -Infinity
  #running: AbortController | undefined
  #again: ReturnType<typeof setTimeout> | undefined

  constructor(
    load: (signal: AbortSignal) => Promise<T>,
    { maxAgeMs = MAX_AGE_MS, isComplete = () => true }: ResourceOptions<T> = {},
  ) {
    this.#load = load
    this.#maxAgeMs = maxAgeMs
    this.#isComplete = isComplete
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0
  }

  /** The current state; the same object until it changes. */
  readonly read = (): LoadState<T> => this.#state

  /**
   * Subscribes, and loads if the value is missing or stale. Returns the function to unsubscribe.
   */
  readonly subscribe = (onChange: () => void): (() => void) => {
    const listener = () => onChange()
    this.#listeners.add(listener)
    if (!this.#running && performance.now() - this.#loadedAtMs >= this.#maxAgeMs) this.#start()
    return () => {
      this.#listeners.delete(listener)
      if (this.isWatched) return
      clearTimeout(this.#again)
      this.#running?.abort()
      this.#running = undefined
    }
  }

  /** Resolves to the value after loading. Rejects if the load fails or the signal aborts. */
  settled(signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (this.#running && !signal.aborted) return
        stop()
        signal.removeEventListener('abort', check)
        if (signal.aborted) reject(new DOMException('left', 'AbortError'))
        else if (this.#state.status === 'loaded') resolve(this.#state.value)
        else reject(new Error('not loaded'))
      }
      const stop = this.subscribe(check)
      signal.addEventListener('abort', check)
      check()
    })
  }

  #start(): void {
    clearTimeout(this.#again)
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
    if (state.status === 'loaded' && this.isWatched && !this.#isComplete(state.value))
      this.#again = setTimeout(() => this.#start(), INCOMPLETE_MS)
  }
}

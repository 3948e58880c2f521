// Whether anybody waits for the result of some work. It may change while the work runs.

export class Demand {
  readonly #listeners = new Set<() => void>()
  #waiting = 0

  get isThere(): boolean {
    return this.#waiting > 0
  }

  /** One more waits, until the returned function is called. */
  add(): () => void {
    this.#change(1)
    let isWaiting = true
    return () => {
      if (isWaiting) this.#change(-1)
      isWaiting = false
    }
  }

  /** Calls the listener when somebody waits again or nobody does, until the signal aborts. */
  watch(listener: () => void, signal: AbortSignal): void {
    this.#listeners.add(listener)
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true })
  }

  #change(amount: number): void {
    const before = this.isThere
    this.#waiting += amount
    if (this.isThere !== before) for (const listener of this.#listeners) listener()
  }
}

// One read at a time: requests that arrive meanwhile get its result.

export interface SharedReads<T> {
  read(this: void): Promise<T>
  /** Later calls of `read` do not get the result of a read that runs now. */
  renew(this: void): void
}

export function shareReads<T>(work: () => Promise<T>): SharedReads<T> {
  let running: Promise<T> | undefined
  let next: Promise<T> | undefined
  let isStale = false
  const start = (): Promise<T> => {
    isStale = false
    running = work().finally(() => (running = undefined))
    return running
  }
  const startAfter = async (earlier: Promise<T>): Promise<T> => {
    await earlier.catch(() => undefined)
    next = undefined
    return running ?? start()
  }
  return {
    async read() {
      if (running === undefined) return start()
      if (!isStale) return running
      next ??= startAfter(running)
      return next
    },
    renew: () => void (isStale = true),
  }
}

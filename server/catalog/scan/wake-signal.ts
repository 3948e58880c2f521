// Lets a loop sleep until it is woken, its time is over, or its signal aborts.

export interface WakeSignal {
  /** Wakes all that wait. Rung while none waits, it wakes the next that does. */
  ring(): void
  /** Resolves when rung or after `timeoutMs`; rejects with the signal's reason when it aborts. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>
}

/** A bell that nobody has rung yet. */
export function createWakeSignal(): WakeSignal {
  let wasRung = false
  const sleepers = new Set<() => void>()
  return {
    ring() {
      wasRung = sleepers.size === 0
      for (const wake of sleepers) wake()
    },
    async wait(timeoutMs, signal) {
      signal.throwIfAborted()
      if (wasRung) {
        wasRung = false
        return
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, timeoutMs)
      const abort = (): void => reject(signal.reason)
      signal.addEventListener('abort', abort)
      sleepers.add(resolve)
      try {
        await promise
      } finally {
        clearTimeout(timer)
        sleepers.delete(resolve)
        signal.removeEventListener('abort', abort)
      }
    },
  }
}

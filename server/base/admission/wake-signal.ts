// Lets a loop sleep until it is woken, a timeout expires, or its signal aborts.
import { addAbortListener } from 'node:events'

export interface WakeSignal {
  /** Wakes all waiters; without a waiter, the next `wait` resolves at once. */
  ring(): void
  /** Resolves on `ring` or after `timeoutMs`; rejects with the signal's reason when it aborts. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>
}

/** Creates a signal that has not been rung. */
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
      using _aborting = addAbortListener(signal, () => reject(signal.reason))
      sleepers.add(resolve)
      try {
        await promise
      } finally {
        clearTimeout(timer)
        sleepers.delete(resolve)
      }
    },
  }
}

// Shows the first cards of a long list at once and the rest whenever the browser has nothing better to do.
import { startTransition, useEffect, useState } from 'react'

/** Fills the tallest screen. */
const FIRST_COUNT = 60
/** One step stays below a frame or two on a slow phone. */
const STEP_COUNT = 400
/** A busy browser never says that it is idle. */
const IDLE_TIMEOUT_MS = 100

/**
 * How many of `total` cards to render now; grows to all of them. A visitor who comes back gets at once the share (0 to
 * 1) of the list that was seen before.
 */
export function useGrowingCount(total: number, seenShare: number): number {
  const [grownCount, setCount] = useState(FIRST_COUNT)
  const count = Math.max(grownCount, Math.ceil(total * seenShare))
  useEffect(() => {
    if (count >= total) return undefined
    return whenIdle(() => startTransition(() => setCount(count + STEP_COUNT)))
  }, [count, total])
  return Math.min(count, total)
}

/** Calls back once when idle; answers the undo. */
function whenIdle(callback: () => void): () => void {
  // Safari has learnt requestIdleCallback only lately.
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(callback, 50)
    return () => clearTimeout(timer)
  }
  const request = requestIdleCallback(callback, { timeout: IDLE_TIMEOUT_MS })
  return () => cancelIdleCallback(request)
}

// Renders the first cards of a long list at once, and the rest in steps when the browser is idle.
import { startTransition, useEffect, useState } from 'react'

/** Fills the tallest viewport. */
const FIRST_COUNT = 60
/** Rendering a step takes at most two frames on a slow phone. */
const STEP_COUNT = 400
/** A busy browser never reports that it is idle. */
const IDLE_TIMEOUT_MS = 100

/**
 * The number of cards to render now; increases to `total`. A returning visitor starts with the
 * share (0 to 1) that the earlier visit has scrolled through.
 */
export function useRenderedCount(total: number, seenShare: number): number {
  const [renderedCount, setCount] = useState(FIRST_COUNT)
  // After a search, the whole list is rendered in steps again.
  const largest = Math.max(total, FIRST_COUNT)
  if (renderedCount > largest) setCount(largest)
  const count = Math.max(renderedCount, Math.ceil(total * seenShare))
  useEffect(() => {
    if (count >= total) return undefined
    return whenIdle(() => startTransition(() => setCount(count + STEP_COUNT)))
  }, [count, total])
  return Math.min(count, total)
}

/** Calls back once when idle. Returns the undo. */
function whenIdle(callback: () => void): () => void {
  // Older versions of Safari lack requestIdleCallback.
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(callback, 50)
    return () => clearTimeout(timer)
  }
  const request = requestIdleCallback(callback, { timeout: IDLE_TIMEOUT_MS })
  return () => cancelIdleCallback(request)
}

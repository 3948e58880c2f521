// Detects an ad that does not start, stalls, or is invisible, so that the visitor does not wait.

/**
 * `late`: never started. `stalled`: no progress. `hidden`: hidden or removed, as ad blockers do.
 */
export type AdFailure = 'late' | 'stalled' | 'hidden'

interface WatchOptions {
  root: HTMLElement
  video: HTMLVideoElement
  signal: AbortSignal
  onFailure: (failure: AdFailure) => void
}

/** Longest time to start, and longest time without progress. */
const STALL_TIMEOUT_MS = 5000
const CHECK_EVERY_MS = 250

/** Checks until the signal aborts. The time in a hidden tab does not count. */
export function watchAd({ root, video, signal, onFailure }: WatchOptions): void {
  let waitedMs = 0
  let hasStarted = false
  let lastSeconds = video.currentTime

  function check(): void {
    if (document.hidden) return
    if (!isVisible(root) || !isVisible(video)) return onFailure('hidden')
    if (video.currentTime === lastSeconds) waitedMs += CHECK_EVERY_MS
    else [waitedMs, hasStarted, lastSeconds] = [0, true, video.currentTime]
    if (waitedMs >= STALL_TIMEOUT_MS) onFailure(hasStarted ? 'stalled' : 'late')
  }

  const timer = setInterval(check, CHECK_EVERY_MS)
  signal.addEventListener('abort', () => clearInterval(timer))
  check()
}

/** Whether the element has a visible box, inside the viewport or not. */
function isVisible(element: Element): boolean {
  if (element.getClientRects().length === 0) return false
  const { width, height } = element.getBoundingClientRect()
  return width > 0 && height > 0 && isRendered(element)
}

function isRendered(element: Element): boolean {
  // Browsers before 2024 lack it.
  if (!('checkVisibility' in element)) return true
  return element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
}

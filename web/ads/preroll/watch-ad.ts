// Notices an ad that does not come, stands still, or is not to be seen, so that nobody waits for
// it.

/**
 * `late`: never started. `stalled`: stands still. `unseen`: hidden or taken away, as ad blockers
 * do.
 */
export type AdTrouble = 'late' | 'stalled' | 'unseen'

interface WatchOptions {
  root: HTMLElement
  video: HTMLVideoElement
  signal: AbortSignal
  onTrouble: (trouble: AdTrouble) => void
}

/** How long an ad may take to start, and stand still. */
const PATIENCE_MS = 5000
const LOOK_MS = 250

/** Looks until the signal aborts, first at once. A page that nobody looks at gives the ad time. */
export function watchAd({ root, video, signal, onTrouble }: WatchOptions): void {
  let waitedMs = 0
  let hasStarted = false
  let seconds = video.currentTime

  function look(): void {
    if (document.hidden) return
    if (!isSeen(root) || !isSeen(video)) return onTrouble('unseen')
    if (video.currentTime === seconds) waitedMs += LOOK_MS
    else [waitedMs, hasStarted, seconds] = [0, true, video.currentTime]
    if (waitedMs >= PATIENCE_MS) onTrouble(hasStarted ? 'stalled' : 'late')
  }

  const timer = setInterval(look, LOOK_MS)
  signal.addEventListener('abort', () => clearInterval(timer))
  look()
}

/**
 * Whether anything of the element can be on the screen; that it is scrolled away does not count.
 */
function isSeen(element: Element): boolean {
  if (element.getClientRects().length === 0) return false
  const { width, height } = element.getBoundingClientRect()
  return width > 0 && height > 0 && isDrawn(element)
}

function isDrawn(element: Element): boolean {
  // Browsers before 2024 do not have it.
  if (!('checkVisibility' in element)) return true
  return element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
}

// Restores the scroll position, also while the list that makes the page long is still rendering.

/** A later jump would only disturb the visitor. */
const TIMEOUT_MS = 10_000

/**
 * Scrolls to `scrollTop` now and while `content` grows, until it is reached or the visitor scrolls.
 * Returns the undo.
 */
export function restoreScroll(content: Element, scrollTop: number): () => void {
  const observer = new ResizeObserver(apply)
  const timer = setTimeout(stop, TIMEOUT_MS)
  const inputs = ['wheel', 'touchstart', 'pointerdown', 'keydown']
  for (const input of inputs) window.addEventListener(input, stop, { passive: true })
  observer.observe(content)
  apply()

  function apply(): void {
    window.scrollTo(0, scrollTop)
    if (Math.abs(window.scrollY - scrollTop) <= 1) stop()
  }

  function stop(): void {
    observer.disconnect()
    clearTimeout(timer)
    for (const input of inputs) window.removeEventListener(input, stop)
  }

  return stop
}

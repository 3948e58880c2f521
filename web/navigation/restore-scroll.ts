// Brings the window back to where it was, also where the list that made the page so long still grows.

/** After this the page is as long as it will get; a late jump would only disturb. */
const GIVE_UP_MS = 10_000

/** Scrolls to `scrollTop` now and while `content` grows, until it is reached or the visitor moves. Answers the undo. */
export function restoreScroll(content: Element, scrollTop: number): () => void {
  const observer = new ResizeObserver(apply)
  const timer = setTimeout(stop, GIVE_UP_MS)
  const moves = ['wheel', 'touchstart', 'pointerdown', 'keydown']
  for (const move of moves) window.addEventListener(move, stop, { passive: true })
  observer.observe(content)
  apply()

  function apply(): void {
    window.scrollTo(0, scrollTop)
    if (Math.abs(window.scrollY - scrollTop) <= 1) stop()
  }

  function stop(): void {
    observer.disconnect()
    clearTimeout(timer)
    for (const move of moves) window.removeEventListener(move, stop)
  }

  return stop
}

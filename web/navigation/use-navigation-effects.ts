// Scroll position and focus on navigation, which a browser does between documents and a router does
// not.
import { useEffect, useLayoutEffect, useRef } from 'react'
import type { RefObject } from 'react'
import { useLocation, useNavigationType } from 'react-router'
import type { VisitMemory } from './visit-memory.ts'

/** Scrolls new pages to the top and restores old ones; moves the focus to the heading of `main`. */
export function useNavigationEffects(main: RefObject<HTMLElement | null>, visits: VisitMemory) {
  const { key } = useLocation()
  const navigationType = useNavigationType()
  const shownKey = useRef(key)

  // A layout effect, so that scroll events of the new page are not stored for the old one.
  useLayoutEffect(() => {
    const save = () => visits.remember(key, measurePosition())
    window.addEventListener('scroll', save, { passive: true })
    return () => window.removeEventListener('scroll', save)
  }, [visits, key])

  useLayoutEffect(() => {
    if (navigationType === 'POP' && main.current) {
      const { scrollTop } = visits.recall(key)
      // A new document is at its top already; scrolling would force a layout of the unfinished
      // page.
      if (scrollTop === 0 && shownKey.current === key) return undefined
      return restoreScroll(main.current, scrollTop)
    }
    window.scrollTo(0, 0)
    return undefined
  }, [main, visits, key, navigationType])

  useEffect(() => {
    if (shownKey.current === key) return
    shownKey.current = key
    main.current?.querySelector('h1')?.focus({ preventScroll: true })
  }, [main, key])
}

function measurePosition() {
  const { scrollY, innerHeight } = window
  // One viewport more than was seen: the restored list must be longer than the scroll position.
  const seenPx = scrollY + 2 * innerHeight
  const seenShare = Math.min(seenPx / document.documentElement.scrollHeight, 1)
  return { scrollTop: scrollY, seenShare }
}

/** A later jump would only disturb the visitor. */
const SCROLL_TIMEOUT_MS = 10_000

/**
 * Scrolls to `scrollTop` now and while `content` grows, until it is reached or the visitor scrolls.
 * Returns the undo.
 */
function restoreScroll(content: Element, scrollTop: number): () => void {
  const observer = new ResizeObserver(apply)
  const timer = setTimeout(stop, SCROLL_TIMEOUT_MS)
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

// What a browser does by itself between documents and a router does not: scroll, and move the focus to the new page.
import { useEffect, useLayoutEffect, useRef } from 'react'
import type { RefObject } from 'react'
import { useLocation, useNavigationType } from 'react-router'
import { restoreScroll } from './restore-scroll.ts'
import type { VisitMemory } from './visit-memory.ts'

/** Opens new pages at their top and old ones where they were left; puts the focus on the heading of `main`. */
export function useNavigationEffects(main: RefObject<HTMLElement | null>, visits: VisitMemory) {
  const { key } = useLocation()
  const navigationType = useNavigationType()
  const shownKey = useRef(key)

  // A layout effect: the scroll event of the new page must not be taken for one of the old.
  useLayoutEffect(() => {
    const remember = () => visits.remember(key, measurePlace())
    window.addEventListener('scroll', remember, { passive: true })
    return () => window.removeEventListener('scroll', remember)
  }, [visits, key])

  useLayoutEffect(() => {
    if (navigationType === 'POP' && main.current) {
      const { scrollTop } = visits.recall(key)
      // A new document stands at its top, and scrolling there would lay out a page that is not complete yet.
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

function measurePlace() {
  const { scrollY, innerHeight } = window
  // A window more than was seen: the list that comes back must be longer than the place is deep.
  const seenPx = scrollY + 2 * innerHeight
  const seenShare = Math.min(seenPx / document.documentElement.scrollHeight, 1)
  return { scrollTop: scrollY, seenShare }
}

// Passes the height of a card to CSS, as the intrinsic size of cards that are not laid out yet.
import { useLayoutEffect } from 'react'
import type { RefObject } from 'react'

/**
 * Sets `--card-block-size` of the area to the height of its first card. With it, a restored scroll
 * position in a list of thousands is exact, and the scroll bar does not jump.
 */
export function useCardSize(areaRef: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const area = areaRef.current
    if (!area) return undefined
    let currentPx: number | undefined
    const measure = () => {
      const contentPx = measureContent(area.querySelector('li'))
      if (contentPx === currentPx) return
      currentPx = contentPx
      area.style.setProperty('--card-block-size', `${contentPx}px`)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(area)
    return () => observer.disconnect()
  }, [areaRef])
}

/** Height without the border, with fractions of a pixel: over a thousand rows they add up. */
function measureContent(card: Element | null): number | undefined {
  if (!(card instanceof HTMLElement) || card.clientHeight === 0) return undefined
  return card.getBoundingClientRect().height - (card.offsetHeight - card.clientHeight)
}

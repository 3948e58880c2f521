// Tells the style sheet how tall a card is, so that cards never yet laid out take the room they will take.
import { useLayoutEffect } from 'react'
import type { RefObject } from 'react'

/**
 * Keeps `--card-block-size` of the list at the height of its first card. With it a place in a list of thousands is
 * where it was when the visitor comes back, and the scroll bar does not jump.
 */
export function useCardSize(listRef: RefObject<HTMLUListElement | null>): void {
  useLayoutEffect(() => {
    const list = listRef.current
    if (!list) return undefined
    let knownPx: number | undefined
    const measure = () => {
      const contentPx = measureContent(list.firstElementChild)
      if (contentPx === knownPx) return
      knownPx = contentPx
      list.style.setProperty('--card-block-size', `${contentPx}px`)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(list)
    return () => observer.disconnect()
  }, [listRef])
}

/** Height without the border. To a fraction of a pixel: after a thousand rows the fractions are a screen. */
function measureContent(card: Element | null): number | undefined {
  if (!(card instanceof HTMLElement) || card.clientHeight === 0) return undefined
  return card.getBoundingClientRect().height - (card.offsetHeight - card.clientHeight)
}

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
      const heightPx = list.firstElementChild?.clientHeight
      if (!heightPx || heightPx === knownPx) return
      knownPx = heightPx
      list.style.setProperty('--card-block-size', `${heightPx}px`)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(list)
    return () => observer.disconnect()
  }, [listRef])
}

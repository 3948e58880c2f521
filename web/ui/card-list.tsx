// The grid of cards, used by all lists.
import { useLayoutEffect, useRef } from 'react'
import type { ReactElement, ReactNode, RefObject } from 'react'
import styles from './card-list.module.css'
import cardStyles from './card.module.css'

interface CardGridProps {
  /** Accessible name of the list. */
  label: string
  /** Keyed `li` elements. */
  cards: ReactElement[]
}

interface CardAreaProps {
  /** `wide`: three columns on a desktop, rows on a phone. `dense`: as many columns as fit. */
  layout: 'wide' | 'dense'
  children: ReactNode
}

/** One list alone. */
export function CardList({ layout, ...grid }: CardGridProps & Pick<CardAreaProps, 'layout'>) {
  return (
    <CardArea layout={layout}>
      <CardGrid {...grid} />
    </CardArea>
  )
}

/** Contains all grids of a page; their cards have about the same height. */
export function CardArea({ layout, children }: CardAreaProps) {
  const areaRef = useRef<HTMLDivElement>(null)
  useCardSize(areaRef)
  return (
    <div
      ref={areaRef}
      className={layout === 'wide' ? `${styles.wide} ${cardStyles.rows}` : styles.dense}
    >
      {children}
    </div>
  )
}

export function CardGrid({ label, cards }: CardGridProps) {
  return (
    <ul className={styles.grid} aria-label={label}>
      {cards}
    </ul>
  )
}

/**
 * Sets `--card-block-size` of the area to the height of its first card. With it, a restored scroll
 * position in a list of thousands is exact, and the scroll bar does not jump.
 */
function useCardSize(areaRef: RefObject<HTMLElement | null>): void {
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

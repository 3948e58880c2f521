// The grid of cards, used by all lists.
import { useRef } from 'react'
import type { ReactElement, ReactNode } from 'react'
import styles from './card-list.module.css'
import cardStyles from './card.module.css'
import { useCardSize } from './use-card-size.ts'

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

// The grid of cards, used by all lists.
import { useRef } from 'react'
import type { ReactElement, ReactNode } from 'react'
import styles from './card-list.module.css'
import { useCardSize } from './use-card-size.ts'

interface CardListProps {
  /** Accessible name of the list. */
  label: string
  /** `wide` has three columns on a desktop; `dense` has as many as fit. */
  layout: 'wide' | 'dense'
  /** Keyed `li` elements. */
  cards: ReactElement[]
}

/** One list alone. */
export function CardList(props: CardListProps) {
  return (
    <CardArea>
      <CardGrid {...props} />
    </CardArea>
  )
}

/** Contains all grids of a page; their cards have about the same height. */
export function CardArea({ children }: { children: ReactNode }) {
  const areaRef = useRef<HTMLDivElement>(null)
  useCardSize(areaRef)
  return (
    <div ref={areaRef} className={styles.cards}>
      {children}
    </div>
  )
}

export function CardGrid({ label, layout, cards }: CardListProps) {
  return (
    <ul className={layout === 'wide' ? styles.wide : styles.dense} aria-label={label}>
      {cards}
    </ul>
  )
}

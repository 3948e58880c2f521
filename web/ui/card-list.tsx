// The grid that all three lists of cards are.
import type { ReactElement } from 'react'
import styles from './card-list.module.css'

interface CardListProps {
  /** Accessible name of the list. */
  label: string
  /** `wide` has three columns on a desktop; `dense` has as many as fit. */
  layout: 'wide' | 'dense'
  /** One `li` for each card, keyed. */
  cards: ReactElement[]
}

export function CardList({ label, layout, cards }: CardListProps) {
  return (
    <ul className={layout === 'wide' ? styles.wide : styles.dense} aria-label={label}>
      {cards}
    </ul>
  )
}

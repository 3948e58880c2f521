// The grid of cards, used by all three lists.
import { useRef } from 'react'
import type { ReactElement } from 'react'
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

export function CardList({ label, layout, cards }: CardListProps) {
  const listRef = useRef<HTMLUListElement>(null)
  useCardSize(listRef)
  return (
    <ul ref={listRef} className={layout === 'wide' ? styles.wide : styles.dense} aria-label={label}>
      {cards}
    </ul>
  )
}

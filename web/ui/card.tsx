// The frame of a card: picture above, what is said of it below.
import type { ReactNode } from 'react'
import styles from './card.module.css'

interface CardProps {
  picture: ReactNode
  children: ReactNode
}

export function Card({ picture, children }: CardProps) {
  return (
    <li className={styles.card}>
      {picture}
      <div className={styles.body}>{children}</div>
    </li>
  )
}

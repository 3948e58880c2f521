// A card: image above, text below.
import type { ReactNode } from 'react'
import styles from './card.module.css'

interface CardProps {
  image: ReactNode
  children: ReactNode
}

export function Card({ image, children }: CardProps) {
  return (
    <li className={styles.card}>
      {image}
      <div className={styles.body}>{children}</div>
    </li>
  )
}

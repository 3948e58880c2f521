// What a list shows instead of cards.
import styles from './list-status.module.css'

interface ListStatusProps {
  isLoading: boolean
  /** Shown once the list is loaded. */
  text?: string
}

/** Screen readers announce a change, if the element was rendered before. */
export function ListStatus({ isLoading, text }: ListStatusProps) {
  const shown = isLoading ? 'Loading…' : text
  return (
    <output className={styles.status} data-loading={isLoading || undefined}>
      {shown && (
        <span key={shown} className={styles.text}>
          {shown}
        </span>
      )}
    </output>
  )
}

/** The result of a search in words, 'No streamers found' too. Without a search there is no text. */
export function describeFound(count: number, noun: 'streamer' | 'session'): string {
  return `${count || 'No'} ${noun}${count === 1 ? '' : 's'} found`
}

// What a list shows instead of cards.
import { translate, translateCount } from '../language/translate.ts'
import styles from './list-status.module.css'

interface ListStatusProps {
  isLoading: boolean
  /** Shown once the list is loaded. */
  text?: string
}

/** Screen readers announce a change, if the element was rendered before. */
export function ListStatus({ isLoading, text }: ListStatusProps) {
  const shown = isLoading ? translate('Loading…') : text
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
export function describeFound(count: number, what: 'streamers' | 'sessions'): string {
  if (what === 'streamers') {
    if (count === 0) return translate('No streamers found')
    return translateCount(count, '{n} streamers found', '{n} streamer found')
  }
  if (count === 0) return translate('No sessions found')
  return translateCount(count, '{n} sessions found', '{n} session found')
}

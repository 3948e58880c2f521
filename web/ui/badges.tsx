// What is drawn over the image of a card: duration, state, watched part.
import { translate } from '../language/translate.ts'
import styles from './badges.module.css'

/** `duration` is `H:MM:SS`; the card's text contains it too. */
export function DurationBadge({ duration }: { duration: string }) {
  return (
    <span className={styles.duration} aria-hidden="true">
      {duration}
    </span>
  )
}

/** Marks a session that is still being recorded. */
export function LiveBadge() {
  return <span className={styles.live}>{translate('Live')}</span>
}

/** `share` is the watched part of the session, 0 to 1. */
export function WatchedBar({ share }: { share: number }) {
  const percent = Math.round(share * 100)
  return (
    <div
      className={styles.watched}
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- browsers style `progress` apart
      role="progressbar"
      aria-label={translate('Watched')}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
    >
      <div style={{ inlineSize: `${percent}%` }} />
    </div>
  )
}

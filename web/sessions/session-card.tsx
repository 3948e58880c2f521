// One session of a streamer.
import { memo, useId } from 'react'
import { Link } from '../ui/link.tsx'
import { useSelectItem } from '../analytics/use-analytics.ts'
import { playerPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { DurationBadge, LiveBadge, WatchedBar } from '../ui/badges.tsx'
import buttonStyles from '../ui/button.module.css'
import { Card } from '../ui/card.tsx'
import cardStyles from '../ui/card.module.css'
import { Thumbnail } from '../ui/thumbnail.tsx'
import { translate } from '../language/translate.ts'
import { FilledText } from '../language/filled-text.tsx'
import { Name } from '../ui/name.tsx'
import type { ListedSession } from './listed-sessions.ts'
import styles from './session-card.module.css'

interface SessionCardProps {
  streamer: string
  session: ListedSession
  /** The watched part, 0 to 1; absent if there is nothing to continue. */
  watchedShare: number | undefined
  thumbnailUrl: string
  position: number
  /** Below the heading of the page, or of a month. */
  heading: 'h2' | 'h3'
  /** Called on hover and focus of Play. */
  onPlayIntent(this: void, session: SessionReference): void
  /** Called when hover or focus ends. */
  onPlayIntentEnd(this: void): void
}

/** Memoised: otherwise each rendering step of a long list would render all earlier cards again. */
export const SessionCard = memo(function SessionCard(props: SessionCardProps) {
  const { streamer, watchedShare, thumbnailUrl, position, heading: Heading } = props
  const { date, sessionId, duration, title, game, isGrowing, day } = props.session
  const id = useId()
  const [dateId, detailId, playId] = [`${id}date`, `${id}detail`, `${id}play`]
  const session = { streamer, date, sessionId }
  const select = useSelectItem('sessions', session)
  const startIntent = () => props.onPlayIntent(session)
  const image = (
    <Thumbnail url={thumbnailUrl} position={position}>
      {isGrowing && <LiveBadge />}
      {duration && <DurationBadge duration={duration} />}
      {watchedShare !== undefined && <WatchedBar share={watchedShare} />}
    </Thumbnail>
  )
  return (
    <Card image={image}>
      <div className={styles.when}>
        <Heading id={dateId} className={cardStyles.title} title={date}>
          <Name>{date}</Name>
        </Heading>
        {day && (
          <time className={styles.weekday} dateTime={day.isoDate}>
            {day.weekday}
          </time>
        )}
      </div>
      {title && (
        <p className={cardStyles.name} title={title}>
          <Name>{title}</Name>
        </p>
      )}
      {game && (
        <p className={cardStyles.detail} title={game}>
          <Name>{game}</Name>
        </p>
      )}
      <p id={detailId} className={`${cardStyles.detail} ${cardStyles.id}`} title={sessionId}>
        <FilledText text="Session {id}" values={{ id: <Name>{sessionId}</Name> }} />
        {` • ${duration || '—'}`}
      </p>
      <Link
        id={playId}
        className={`${buttonStyles.soft} ${cardStyles.action}`}
        to={playerPagePath(session)}
        // Unique: 'Play 2026-01-31 Session 1001 • 1:02:03'.
        aria-labelledby={`${playId} ${dateId} ${detailId}`}
        onPointerEnter={startIntent}
        onPointerLeave={props.onPlayIntentEnd}
        onFocus={startIntent}
        onBlur={props.onPlayIntentEnd}
        {...select}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M5 3.5v9l7-4.5z" />
        </svg>
        {translate('Play')}
      </Link>
    </Card>
  )
})

// One session of a streamer.
import { memo, useId } from 'react'
import { Link } from 'react-router'
import { useSelectItem } from '../analytics/use-analytics.ts'
import { playerPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import buttonStyles from '../ui/button.module.css'
import { Card } from '../ui/card.tsx'
import cardStyles from '../ui/card.module.css'
import { Thumbnail } from '../ui/thumbnail.tsx'

interface SessionCardProps {
  streamer: string
  date: string
  sessionId: string
  /** Absent while unknown. */
  duration: string | undefined
  thumbnailUrl: string
  position: number
  /** Called on hover and focus of Play. */
  onPlayIntent(this: void, session: SessionReference): void
  /** Called when hover or focus ends. */
  onPlayIntentEnd(this: void): void
}

/** Memoised: otherwise each rendering step of a long list would render all earlier cards again. */
export const SessionCard = memo(function SessionCard(props: SessionCardProps) {
  const { streamer, date, sessionId, duration, thumbnailUrl, position } = props
  const id = useId()
  const session = { streamer, date, sessionId }
  const select = useSelectItem('sessions', session)
  const startIntent = () => props.onPlayIntent(session)
  return (
    <Card image={<Thumbnail url={thumbnailUrl} position={position} />}>
      <h2 className={cardStyles.title} dir="auto">
        {date}
      </h2>
      <p id={id} className={cardStyles.detail} dir="auto">
        {`Session ${sessionId} • ${duration || '—'}`}
      </p>
      <Link
        className={`${buttonStyles.soft} ${cardStyles.action}`}
        to={playerPagePath(session)}
        aria-describedby={id}
        onPointerEnter={startIntent}
        onPointerLeave={props.onPlayIntentEnd}
        onFocus={startIntent}
        onBlur={props.onPlayIntentEnd}
        {...select}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M5 3.5v9l7-4.5z" />
        </svg>
        Play
      </Link>
    </Card>
  )
})

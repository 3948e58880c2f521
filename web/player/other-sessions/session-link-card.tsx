// The card of a session on the player page; the whole card is the link.
import { Link } from '../../ui/link.tsx'
import { useSelectItem } from '../../analytics/use-analytics.ts'
import { playerPagePath } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import { Card } from '../../ui/card.tsx'
import cardStyles from '../../ui/card.module.css'
import { Thumbnail } from '../../ui/thumbnail.tsx'

interface SessionLinkCardProps {
  session: SessionReference
  /** Absent while unknown. */
  duration: string | undefined
  thumbnailUrl: string
  /** `recommended`: of any streamer. `sessions`: all are of one streamer. */
  list: 'recommended' | 'sessions'
}

/** Below the video: all images are loaded lazily. */
const BELOW_THE_FOLD = Infinity

export function SessionLinkCard({ session, duration, thumbnailUrl, list }: SessionLinkCardProps) {
  const { streamer, date, sessionId } = session
  const select = useSelectItem(list, session)
  const isOfOneStreamer = list === 'sessions'
  const title = isOfOneStreamer ? date : streamer
  return (
    <Card image={<Thumbnail url={thumbnailUrl} position={BELOW_THE_FOLD} />}>
      <h3 className={cardStyles.title}>
        <Link className={cardStyles.cover} to={playerPagePath(session)} {...select}>
          <bdi>{title}</bdi>
        </Link>
      </h3>
      {!isOfOneStreamer && (
        <p className={cardStyles.detail}>
          <bdi>{date}</bdi>
        </p>
      )}
      <p className={cardStyles.detail}>
        Session <bdi>{sessionId}</bdi>
        {duration && ` • ${duration}`}
      </p>
    </Card>
  )
}

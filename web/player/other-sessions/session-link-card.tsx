// The card of a session on the player page; the whole card is the link.
import { Link } from '../../ui/link.tsx'
import { useSelectItem } from '../../analytics/use-analytics.ts'
import { playerPagePath } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import type { DescribedSession } from '../../api/join-details.ts'
import { LiveBadge, WatchedBar } from '../../ui/badges.tsx'
import { Card } from '../../ui/card.tsx'
import cardStyles from '../../ui/card.module.css'
import { Thumbnail } from '../../ui/thumbnail.tsx'
import { FilledText } from '../../language/filled-text.tsx'
import { Name } from '../../ui/name.tsx'

interface SessionLinkCardProps {
  session: SessionReference & Partial<DescribedSession> & { duration?: string | undefined }
  /** The watched part, 0 to 1; absent if there is nothing to continue. */
  watchedShare: number | undefined
  thumbnailUrl: string
  /** `recommended`: of any streamer. `sessions`: all are of one streamer. */
  list: 'recommended' | 'sessions'
}

/** Below the video: all images are loaded lazily. */
const BELOW_THE_FOLD = Infinity

export function SessionLinkCard(props: SessionLinkCardProps) {
  const { session, watchedShare, thumbnailUrl, list } = props
  const { streamer, date, sessionId, duration, title, isGrowing } = session
  const reference = { streamer, date, sessionId }
  const select = useSelectItem(list, reference)
  const isOfOneStreamer = list === 'sessions'
  const image = (
    <Thumbnail url={thumbnailUrl} position={BELOW_THE_FOLD}>
      {isGrowing && <LiveBadge />}
      {watchedShare !== undefined && <WatchedBar share={watchedShare} />}
    </Thumbnail>
  )
  return (
    <Card image={image}>
      <h3 className={cardStyles.title}>
        <Link className={cardStyles.cover} to={playerPagePath(reference)} {...select}>
          <Name>{isOfOneStreamer ? date : streamer}</Name>
        </Link>
      </h3>
      {title && (
        <p className={cardStyles.name} title={title}>
          <Name>{title}</Name>
        </p>
      )}
      {!isOfOneStreamer && (
        <p className={cardStyles.detail}>
          <Name>{date}</Name>
        </p>
      )}
      <p className={`${cardStyles.detail} ${cardStyles.id}`}>
        <FilledText text="Session {id}" values={{ id: <Name>{sessionId}</Name> }} />
        {duration && ` • ${duration}`}
      </p>
    </Card>
  )
}

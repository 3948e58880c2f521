// One recommended session; the whole card is the link.
import { Link } from 'react-router'
import { useSelectItem } from '../analytics/use-analytics.ts'
import { playerPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { Card } from '../ui/card.tsx'
import cardStyles from '../ui/card.module.css'
import { Thumbnail } from '../ui/thumbnail.tsx'

interface RecommendedCardProps {
  session: SessionReference
  thumbnailUrl: string
}

/** Below the video: all images of the section are loaded lazily. */
const BELOW_THE_FOLD = Infinity

export function RecommendedCard({ session, thumbnailUrl }: RecommendedCardProps) {
  const { streamer, date, sessionId } = session
  const select = useSelectItem('recommended', session)
  return (
    <Card image={<Thumbnail url={thumbnailUrl} position={BELOW_THE_FOLD} />}>
      <h3 className={cardStyles.title} dir="auto">
        <Link className={cardStyles.cover} to={playerPagePath(session)} {...select}>
          {streamer}
        </Link>
      </h3>
      <p className={cardStyles.detail} dir="auto">
        {date}
      </p>
      <p className={cardStyles.detail} dir="auto">{`Session ${sessionId}`}</p>
    </Card>
  )
}

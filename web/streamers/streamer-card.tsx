// One streamer in the list.
import { memo, useId } from 'react'
import type { ReactElement } from 'react'
import type { StreamerItem } from '../../shared/contract.ts'
import type { PageApi } from '../api/page-api.ts'
import { Link } from '../ui/link.tsx'
import { useSelectItem } from '../analytics/use-analytics.ts'
import { sessionsPagePath } from '../../shared/paths.ts'
import { Card } from '../ui/card.tsx'
import { Thumbnail } from '../ui/thumbnail.tsx'
import { translate, translateCount } from '../language/translate.ts'
import { Name } from '../ui/name.tsx'
import buttonStyles from '../ui/button.module.css'
import cardStyles from '../ui/card.module.css'

interface StreamerCardProps {
  name: string
  recordingCount: number
  thumbnailUrl: string
  position: number
}

/** Memoised: otherwise each keystroke in the search box would render all cards. */
const StreamerCard = memo(function StreamerCard(props: StreamerCardProps) {
  const { name, recordingCount, thumbnailUrl, position } = props
  const nameId = useId()
  const select = useSelectItem('streamers', { streamer: name })
  return (
    <Card image={<Thumbnail url={thumbnailUrl} position={position} letters={initials(name)} />}>
      <h2 id={nameId} className={cardStyles.title} title={name}>
        <Name>{name}</Name>
      </h2>
      <p className={cardStyles.detail}>{translateCount(recordingCount, '{n} recordings')}</p>
      <Link
        className={`${buttonStyles.soft} ${cardStyles.action}`}
        to={sessionsPagePath(name)}
        aria-describedby={nameId}
        {...select}
      >
        {translate('View Sessions')}
      </Link>
    </Card>
  )
})

/** The cards of a list. */
export function streamerCards(api: PageApi, streamers: readonly StreamerItem[]): ReactElement[] {
  return streamers.map(({ name, recording_count }, position) => (
    <StreamerCard
      key={name}
      name={name}
      recordingCount={recording_count}
      thumbnailUrl={api.streamerThumbnailUrl(name)}
      position={position}
    />
  ))
}

/** For a streamer without a thumbnail: the first two code points in upper case. */
export function initials(name: string): string {
  // Two code points have at most four code units: a long name is not traversed.
  return Array.from(name.slice(0, 4)).slice(0, 2).join('').toUpperCase()
}

// The cards of the streamers that a search has left.
import { memo } from 'react'
import type { StreamerItem } from '../../shared/contract.ts'
import { useCardsWithAds } from '../ads/use-cards-with-ads.tsx'
import type { PageApi } from '../api/page-api.ts'
import { CardList } from '../ui/card-list.tsx'
import { useGrowingCount } from '../ui/use-growing-count.ts'
import { StreamerCard } from './streamer-card.tsx'

interface StreamerListProps {
  api: PageApi
  /** The same array as long as nothing else is found. */
  streamers: StreamerItem[]
  /** How much of the list was seen at an earlier visit, 0 to 1. */
  seenShare: number
}

/** Memoised: a letter in the search box is shown before 10,000 cards are looked at. */
export const StreamerList = memo(function StreamerList(props: StreamerListProps) {
  const { api, streamers, seenShare } = props
  const count = useGrowingCount(streamers.length, seenShare)
  const cards = streamers
    .slice(0, count)
    .map(({ name, recording_count }, position) => (
      <StreamerCard
        key={name}
        name={name}
        recordingCount={recording_count}
        thumbnailUrl={api.streamerThumbnailUrl(name)}
        position={position}
      />
    ))
  const entries = useCardsWithAds('list', cards)
  return <CardList label="Streamers" layout="dense" cards={entries} />
})

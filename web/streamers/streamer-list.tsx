// The cards of the streamers that match the search.
import { memo } from 'react'
import type { StreamerItem } from '../../shared/contract.ts'
import { useCardsWithAds } from '../ads/use-cards-with-ads.tsx'
import type { PageApi } from '../api/page-api.ts'
import { CardList } from '../ui/card-list.tsx'
import { useRenderedCount } from '../ui/use-rendered-count.ts'
import { translate } from '../language/translate.ts'
import { streamerCards } from './streamer-card.tsx'

interface StreamerListProps {
  api: PageApi
  /** The same array as long as the matches do not change. */
  streamers: StreamerItem[]
  /** The share of the list that an earlier visit has scrolled through, 0 to 1. */
  seenShare: number
}

/** Memoised: a keystroke in the search box appears before 10,000 cards are compared. */
export const StreamerList = memo(function StreamerList(props: StreamerListProps) {
  const { api, streamers, seenShare } = props
  const count = useRenderedCount(streamers.length, seenShare)
  const cards = streamerCards(api, streamers.slice(0, count))
  const entries = useCardsWithAds('list', cards)
  return <CardList label={translate('Streamers')} layout="dense" cards={entries} />
})

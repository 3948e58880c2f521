// The streamers list at `/`.
import { useDeferredValue, useState } from 'react'
import { useListView } from '../analytics/use-analytics.ts'
import { useAdsAfterList } from '../ads/ads-provider.tsx'
import { useCardsWithAds } from '../ads/use-cards-with-ads.tsx'
import type { PageApi } from '../api/page-api.ts'
import { useResource } from '../api/use-resource.ts'
import type { VisitMemory } from '../navigation/visit-memory.ts'
import { CardList } from '../ui/card-list.tsx'
import { Loading } from '../ui/loading.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { useGrowingCount } from '../ui/use-growing-count.ts'
import { filterStreamers } from './filter-streamers.ts'
import { SearchBox } from './search-box.tsx'
import { StreamerCard } from './streamer-card.tsx'

interface StreamersPageProps {
  api: PageApi
  visits: VisitMemory
  /** Key of this visit in the history. */
  visitKey: string
}

export function StreamersPage({ api, visits, visitKey }: StreamersPageProps) {
  const list = useResource(api.streamers())
  useListView({ list: 'streamers', state: list, itemOf: ({ name }) => ({ streamer: name }) })
  useAdsAfterList(list)
  const [visit] = useState(() => visits.recall(visitKey))
  const [query, setQuery] = useState(visit.search)
  // Typing comes first; the cards follow when there is time.
  const shownQuery = useDeferredValue(query)
  const all = list.status === 'loaded' ? list.value : []
  const streamers = filterStreamers(all, shownQuery)
  const count = useGrowingCount(streamers.length, visit.seenShare)

  function search(text: string): void {
    setQuery(text)
    visits.remember(visitKey, { search: text })
  }

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

  return (
    <>
      <PageHeader heading="Streamers">
        <SearchBox
          query={query}
          onQuery={search}
          found={shownQuery !== '' && all.length > 0 ? streamers.length : undefined}
        />
      </PageHeader>
      {list.status === 'loading' ? (
        <Loading />
      ) : (
        <CardList label="Streamers" layout="dense" cards={entries} />
      )}
    </>
  )
}

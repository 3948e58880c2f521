// The streamers list at `/`.
import { useDeferredValue, useMemo, useState } from 'react'
import type { StreamerItem } from '../../shared/contract.ts'
import { useListView } from '../analytics/use-analytics.ts'
import { useAdsAfterList } from '../ads/ads-provider.tsx'
import type { PageApi } from '../api/page-api.ts'
import { useResource } from '../api/use-resource.ts'
import type { VisitMemory } from '../navigation/visit-memory.ts'
import { Loading } from '../ui/loading.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { filterStreamers } from './filter-streamers.ts'
import { SearchBox } from './search-box.tsx'
import { StreamerList } from './streamer-list.tsx'

interface StreamersPageProps {
  api: PageApi
  visits: VisitMemory
  /** Key of this visit in the history. */
  visitKey: string
}

const NONE: StreamerItem[] = []

export function StreamersPage({ api, visits, visitKey }: StreamersPageProps) {
  const list = useResource(api.streamers())
  useListView({ list: 'streamers', state: list, itemOf: ({ name }) => ({ streamer: name }) })
  useAdsAfterList(list)
  const [visit] = useState(() => visits.recall(visitKey))
  const [query, setQuery] = useState(visit.search)
  // The input updates first, the cards with lower priority.
  const shownQuery = useDeferredValue(query)
  const all = list.status === 'loaded' ? list.value : NONE
  const streamers = useMemo(() => filterStreamers(all, shownQuery), [all, shownQuery])

  function search(text: string): void {
    setQuery(text)
    visits.remember(visitKey, { search: text })
  }

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
        <StreamerList api={api} streamers={streamers} seenShare={visit.seenShare} />
      )}
    </>
  )
}

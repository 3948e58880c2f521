// The streamers list at `/`.
import { useDeferredValue, useMemo, useState } from 'react'
import { useNavigate } from 'react-router'
import type { StreamerItem } from '../../shared/contract.ts'
import { sessionsPagePath } from '../../shared/paths.ts'
import { useListView, useTrackSelection } from '../analytics/use-analytics.ts'
import { useAdsAfterList } from '../ads/ads-provider.tsx'
import type { PageApi } from '../api/page-api.ts'
import { useResource } from '../api/use-resource.ts'
import { useUrlParameter } from '../navigation/use-url-parameter.ts'
import type { VisitMemory } from '../navigation/visit-memory.ts'
import { readContinuable } from '../navigation/watch-history.ts'
import { describeFound, ListStatus } from '../ui/list-status.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SearchBox } from '../ui/search-box.tsx'
import { translate } from '../language/translate.ts'
import { filterStreamers } from './filter-streamers.ts'
import styles from './streamers-page.module.css'
import { ContinueWatching } from './continue-watching.tsx'
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
  const [hasWatched] = useState(() => readContinuable(1).length > 0)
  useListView({ list: 'streamers', state: list, itemOf: ({ name }) => ({ streamer: name }) })
  useAdsAfterList(list)
  const [{ seenShare }] = useState(() => visits.recall(visitKey))
  const [query, setQuery] = useUrlParameter('q')
  // The input updates first, the cards with lower priority.
  const shownQuery = useDeferredValue(query.trim())
  const all = list.status === 'loaded' ? list.value : NONE
  const streamers = useMemo(() => filterStreamers(all, shownQuery), [all, shownQuery])
  const found =
    shownQuery !== '' && all.length > 0 ? describeFound(streamers.length, 'streamers') : ''
  const openStreamer = useOpenStreamer()

  function openSoleMatch(): void {
    // The cards may still show the result of an earlier query.
    const matches = query.trim() === '' ? [] : filterStreamers(all, query)
    if (matches.length === 1 && matches[0]) openStreamer(matches[0].name)
  }

  return (
    <>
      <PageHeader heading={translate('Streamers')}>
        <SearchBox
          label={translate('Search streamer')}
          placeholder={translate('Search streamer...')}
          query={query}
          onQuery={setQuery}
          onSubmit={openSoleMatch}
          found={streamers.length > 0 ? found : ''}
        />
      </PageHeader>
      {hasWatched && query.trim() === '' && (
        <div className={styles.continue}>
          <ContinueWatching api={api} />
        </div>
      )}
      <ListStatus isLoading={list.status === 'loading'} text={streamers.length > 0 ? '' : found} />
      {list.status !== 'loading' && (
        <StreamerList api={api} streamers={streamers} seenShare={seenShare} />
      )}
    </>
  )
}

/** Opens a streamer like a click on the card. */
function useOpenStreamer(): (streamer: string) => void {
  const navigate = useNavigate()
  const trackSelection = useTrackSelection('streamers')
  return (streamer) => {
    trackSelection({ streamer })
    void navigate(sessionsPagePath(streamer))
  }
}

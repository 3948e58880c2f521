// A streamer's sessions at `/s/:streamer`.
import { useState } from 'react'
import { useListView } from '../analytics/use-analytics.ts'
import { useAdsAfterList } from '../ads/ads-provider.tsx'
import type { PageApi } from '../api/page-api.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { useResource } from '../api/use-resource.ts'
import type { VisitMemory } from '../navigation/visit-memory.ts'
import { BackButton } from '../ui/back-button.tsx'
import { CardList } from '../ui/card-list.tsx'
import { Loading } from '../ui/loading.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { useRenderedCount } from '../ui/use-rendered-count.ts'
import { SessionCard } from './session-card.tsx'

interface SessionsPageProps {
  api: PageApi
  streamer: string
  visits: VisitMemory
  /** Key of this visit in the history. */
  visitKey: string
  /** Called on hover and focus of Play. */
  onPlayIntent(this: void, session: SessionReference): void
  onPlayIntentEnd(this: void): void
}

export function SessionsPage(props: SessionsPageProps) {
  const { api, streamer, visits, visitKey, onPlayIntent, onPlayIntentEnd } = props
  const list = useResource(api.sessions(streamer))
  useListView({
    list: 'sessions',
    state: list,
    itemOf: ({ date, sessionId }) => ({ streamer, date, sessionId }),
  })
  useAdsAfterList(list)
  const sessions = list.status === 'loaded' ? list.value : []
  const [visit] = useState(() => visits.recall(visitKey))
  const count = useRenderedCount(sessions.length, visit.seenShare)

  const cards = sessions
    .slice(0, count)
    .map(({ date, sessionId, duration }, position) => (
      <SessionCard
        key={`${date}/${sessionId}`}
        streamer={streamer}
        date={date}
        sessionId={sessionId}
        duration={duration}
        thumbnailUrl={api.thumbnailUrl({ streamer, date, sessionId })}
        position={position}
        onPlayIntent={onPlayIntent}
        onPlayIntentEnd={onPlayIntentEnd}
      />
    ))

  return (
    <>
      <PageHeader heading={`Sessions: ${streamer}`} back={<BackButton parent="/" />} />
      {list.status === 'loading' ? (
        <Loading />
      ) : (
        <CardList label="Sessions" layout="wide" cards={cards} />
      )}
    </>
  )
}

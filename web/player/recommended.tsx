// The Recommended section below the video.
import { useEffect, useState } from 'react'
import { useAdsAfterList } from '../ads/ads-provider.tsx'
import { useCardsWithAds } from '../ads/use-cards-with-ads.tsx'
import type { LoadState } from '../api/resource.ts'
import type { PageApi } from '../api/page-api.ts'
import { playerPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { CardList } from '../ui/card-list.tsx'
import { Loading } from '../ui/loading.tsx'
import { recommendSessions } from './recommend.ts'
import { RecommendedCard } from './recommended-card.tsx'
import styles from './recommended.module.css'

interface RecommendedProps {
  api: PageApi
  /** The streamer of the current session. */
  streamer: string
  /** Whether loading may start: the video has priority. */
  isDue: boolean
}

export function Recommended({ api, streamer, isDue }: RecommendedProps) {
  const [list, setList] = useState<LoadState<SessionReference[]>>({ status: 'loading' })
  useAdsAfterList(list)

  useEffect(() => {
    if (!isDue) return undefined
    const left = new AbortController()
    recommendSessions(streamer, sourcesOf(api), left.signal).then(
      (value) => left.signal.aborted || setList({ status: 'loaded', value }),
      () => left.signal.aborted || setList({ status: 'failed' }),
    )
    return () => left.abort()
  }, [api, streamer, isDue])

  const sessions = list.status === 'loaded' ? list.value : []
  const cards = sessions.map((session, position) => (
    // The same session may appear twice.
    <RecommendedCard
      key={`${position}:${playerPagePath(session)}`}
      session={session}
      thumbnailUrl={api.thumbnailUrl(session)}
    />
  ))

  const entries = useCardsWithAds('recommended', cards)

  return (
    <section className={styles.recommended}>
      <h2 className={styles.heading}>Recommended</h2>
      {list.status === 'loading' ? (
        <Loading />
      ) : (
        <CardList label="Recommended" layout="dense" cards={entries} />
      )}
    </section>
  )
}

function sourcesOf(api: PageApi) {
  return {
    fetchStreamers: (signal: AbortSignal) => api.streamers().settled(signal),
    fetchSessions: (streamer: string, signal: AbortSignal) =>
      api.sessions(streamer).settled(signal),
    random: Math.random,
  }
}

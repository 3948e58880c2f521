// The Recommended section below the video.
import { useEffect, useState } from 'react'
import { useAdsAfterList } from '../../ads/ads-provider.tsx'
import { useCardsWithAds } from '../../ads/use-cards-with-ads.tsx'
import type { LoadState } from '../../api/resource.ts'
import type { PageApi } from '../../api/page-api.ts'
import { playerPagePath, sessionKey } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import { readWatchedShares } from '../../navigation/watch-history.ts'
import { CardList } from '../../ui/card-list.tsx'
import { ListStatus } from '../../ui/list-status.tsx'
import { translate } from '../../language/translate.ts'
import type { recommendSessions, RecommendedSession } from './recommend.ts'
import { SessionLinkCard } from './session-link-card.tsx'
import styles from './recommended.module.css'

interface RecommendedProps {
  api: PageApi
  /** The current session; a new component per session. */
  session: SessionReference
  /** Whether loading may start: the video has priority. */
  isDue: boolean
  /** Whether what is above has its final height. */
  isShown: boolean
}

export function Recommended({ api, session, isDue, isShown }: RecommendedProps) {
  const [list, setList] = useState<LoadState<RecommendedSession[]>>({ status: 'loading' })
  useAdsAfterList(list)
  // The object is new in each render.
  const [current] = useState(session)

  useEffect(() => {
    if (!isDue) return undefined
    const left = new AbortController()
    recommend(current, sourcesOf(api), left.signal).then(
      (value) => left.signal.aborted || setList({ status: 'loaded', value }),
      () => left.signal.aborted || setList({ status: 'failed' }),
    )
    return () => left.abort()
  }, [api, current, isDue])

  const sessions = list.status === 'loaded' ? list.value : []
  const [watchedShares] = useState(() => readWatchedShares())
  const cards = sessions.map((recommended, position) => (
    // The same session may appear twice.
    <SessionLinkCard
      key={`${position}:${playerPagePath(recommended)}`}
      session={recommended}
      watchedShare={watchedShares.get(sessionKey(recommended))}
      thumbnailUrl={api.thumbnailUrl(recommended)}
      list="recommended"
    />
  ))

  const entries = useCardsWithAds('recommended', cards)
  const label = translate('Recommended')

  return (
    <section
      className={isShown ? styles.recommended : `${styles.recommended} ${styles.pending}`}
      aria-label={label}
    >
      <h2 className={styles.heading}>{label}</h2>
      {list.status === 'loading' ? (
        <ListStatus isLoading />
      ) : (
        <CardList label={label} layout="dense" cards={entries} />
      )}
    </section>
  )
}

/** Code that the first frame does not need. */
async function recommend(
  ...options: Parameters<typeof recommendSessions>
): Promise<RecommendedSession[]> {
  const { recommendSessions } = await import('./recommend.ts')
  return recommendSessions(...options)
}

function sourcesOf(api: PageApi) {
  return {
    fetchStreamers: (signal: AbortSignal) => api.streamers().settled(signal),
    fetchSessions: (streamer: string, signal: AbortSignal) =>
      api.sessions(streamer).settled(signal),
    fetchDetails: (streamer: string, signal: AbortSignal) => api.details(streamer).settled(signal),
    random: Math.random,
  }
}

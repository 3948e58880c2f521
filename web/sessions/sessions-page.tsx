// A streamer's sessions at `/s/:streamer`.
import { useCallback, useDeferredValue, useMemo, useState } from 'react'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { useListView, useTrackSelection } from '../analytics/use-analytics.ts'
import { useAdsAfterList } from '../ads/ads-provider.tsx'
import type { PageApi } from '../api/page-api.ts'
import { playerPagePath, sessionKey } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { useResource } from '../api/use-resource.ts'
import { useUrlParameter } from '../navigation/use-url-parameter.ts'
import type { VisitMemory } from '../navigation/visit-memory.ts'
import { readWatchedShares } from '../navigation/watch-history.ts'
import { BackButton } from '../ui/back-button.tsx'
import { describeFound, ListStatus } from '../ui/list-status.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { translate } from '../language/translate.ts'
import { FilledText } from '../language/filled-text.tsx'
import { Name } from '../ui/name.tsx'
import { filterSessions, listMonths } from './listed-sessions.ts'
import type { ListedSession } from './listed-sessions.ts'
import { SessionCard } from './session-card.tsx'
import { SessionFilter } from './session-filter.tsx'
import { SessionList } from './session-list.tsx'
import { StreamerProfile } from './streamer-profile.tsx'
import { useListedSessions } from './use-listed-sessions.ts'

interface SessionsPageProps {
  api: PageApi
  streamer: string
  visits: VisitMemory
  /** Key of this visit in the history. */
  visitKey: string
  /** Called on hover and focus of Play. */
  onPlayIntent(this: void, session: SessionReference): void
  onPlayIntentEnd(this: void): void
  /** Below an empty list. */
  withoutSessions: ReactNode
}

/** Up to this many sessions are seen at a glance: they need no filter and no months. */
const FEW_SESSIONS = 12

export function SessionsPage(props: SessionsPageProps) {
  const { api, streamer, visits, visitKey } = props
  const list = useResource(api.sessions(streamer))
  useListView({
    list: 'sessions',
    state: list,
    itemOf: ({ date, sessionId }) => ({ streamer, date, sessionId }),
  })
  useAdsAfterList(list)
  const details = useResource(api.details(streamer))
  const all = useListedSessions(list, details)
  const isLong = all !== undefined && all.length > FEW_SESSIONS
  const [{ seenShare }] = useState(() => visits.recall(visitKey))
  const filter = useSessionFilter(isLong ? all : NONE)
  const shown = isLong ? filter.sessions : all
  const isNone = isLong && filter.sessions.length === 0
  const renderCard = useCardRenderer(props, isLong ? 'h3' : 'h2')
  const openSession = useOpenSession(streamer)

  function openSoleMatch(): void {
    const [first, ...others] = filter.query.trim() === '' ? [] : filter.findNow()
    if (first && others.length === 0) openSession(first)
  }

  return (
    <>
      <PageHeader
        heading={translate('Sessions: {streamer}', { streamer })}
        names={
          <FilledText text="Sessions: {streamer}" values={{ streamer: <Name>{streamer}</Name> }} />
        }
        back={<BackButton parent="/" />}
      />
      {all && details.status === 'loaded' && (
        <StreamerProfile details={details.value} avatarUrl={api.streamerThumbnailUrl(streamer)} />
      )}
      {isLong && (
        <SessionFilter {...filter} found={isNone ? '' : filter.found} onSubmit={openSoleMatch} />
      )}
      <ListStatus isLoading={!shown} text={isNone ? filter.found : ''} />
      {shown && (
        <SessionList
          sessions={shown}
          order={isLong ? 'by month' : 'plain'}
          renderCard={renderCard}
          seenShare={seenShare}
        />
      )}
      {all?.length === 0 && props.withoutSessions}
    </>
  )
}

const NONE: ListedSession[] = []

/** Search and month, which are in the URL, and the sessions that match. */
function useSessionFilter(all: ListedSession[]) {
  const [query, onQuery] = useUrlParameter('q')
  const [wantedMonth, onMonth] = useUrlParameter('month')
  const months = useMemo(() => listMonths(all), [all])
  // A link may contain a month that has no sessions any more.
  const orAll = (wanted: string) => (months.some(({ value }) => value === wanted) ? wanted : '')
  const month = orAll(wantedMonth)
  // The controls update first, the cards with lower priority.
  const shownQuery = useDeferredValue(query.trim())
  const shownMonth = orAll(useDeferredValue(wantedMonth))
  const sessions = useMemo(
    () => filterSessions(all, { query: shownQuery, month: shownMonth }),
    [all, shownQuery, shownMonth],
  )
  return {
    query,
    onQuery,
    months,
    month,
    onMonth,
    sessions,
    found: sessions === all ? '' : describeFound(sessions.length, 'sessions'),
    /** The cards may still show the result of an earlier query. */
    findNow: () => filterSessions(all, { query, month }),
  }
}

/** The same function as long as its cards would be equal. */
function useCardRenderer(props: SessionsPageProps, heading: 'h2' | 'h3') {
  const { api, streamer, onPlayIntent, onPlayIntentEnd } = props
  const [watchedShares] = useState(() => readWatchedShares())
  return useCallback(
    (session: ListedSession, position: number) => {
      const reference = { streamer, date: session.date, sessionId: session.sessionId }
      const key = sessionKey(reference)
      return (
        <SessionCard
          key={key}
          streamer={streamer}
          session={session}
          watchedShare={watchedShares.get(key)}
          thumbnailUrl={api.thumbnailUrl(reference)}
          position={position}
          heading={heading}
          onPlayIntent={onPlayIntent}
          onPlayIntentEnd={onPlayIntentEnd}
        />
      )
    },
    [api, streamer, onPlayIntent, onPlayIntentEnd, heading, watchedShares],
  )
}

/** Opens a session like a click on Play. */
function useOpenSession(streamer: string): (session: ListedSession) => void {
  const navigate = useNavigate()
  const trackSelection = useTrackSelection('sessions')
  return ({ date, sessionId }) => {
    const session = { streamer, date, sessionId }
    trackSelection(session)
    void navigate(playerPagePath(session))
  }
}

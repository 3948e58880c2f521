// Which page belongs to which path, and what each is handed: the one place where pages and parts meet.
import { useEffect } from 'react'
import { Route, Routes, useLocation } from 'react-router'
import { LayoutAd } from './ads/ad-block.tsx'
import { AdsProvider } from './ads/ads-provider.tsx'
import type { PageApi } from './api/page-api.ts'
import { Layout } from './layout.tsx'
import { usePathSegments } from './navigation/use-path-segments.ts'
import type { VisitMemory } from './navigation/visit-memory.ts'
import { NotFoundPage } from './not-found-page.tsx'
import { PlayerPage } from './player/player-page.tsx'
import type { ReadySessions } from './player/ready-sessions.ts'
import { SessionsPage } from './sessions/sessions-page.tsx'
import { StreamersPage } from './streamers/streamers-page.tsx'

interface AppRoutesProps {
  api: PageApi
  readySessions: ReadySessions
  visits: VisitMemory
}

type RouteProps = Omit<AppRoutesProps, 'readySessions'>

export function AppRoutes({ api, readySessions, visits }: AppRoutesProps) {
  return (
    <Routes>
      <Route element={<Frame api={api} visits={visits} />}>
        <Route path="/" element={<StreamersRoute api={api} visits={visits} />} />
        <Route
          path="/s/:streamer"
          element={<SessionsRoute api={api} readySessions={readySessions} visits={visits} />}
        />
        <Route
          path="/p/:streamer?/:date?/:sessionId?"
          element={<PlayerRoute api={api} readySessions={readySessions} />}
        />
        <Route path="*" element={<NotFoundPage />} />
      </Route>
    </Routes>
  )
}

function Frame({ api, visits }: RouteProps) {
  return (
    <AdsProvider config={api.config()}>
      <Layout
        visits={visits}
        headerSlot={<LayoutAd slotName="header" />}
        sidebarSlot={<LayoutAd slotName="sidebar" />}
        footerSlot={<LayoutAd slotName="footer" />}
      />
    </AdsProvider>
  )
}

function StreamersRoute({ api, visits }: RouteProps) {
  const { key } = useLocation()
  // A new visit is a new page: Home leads to the whole list also from a search.
  return <StreamersPage key={key} api={api} visits={visits} visitKey={key} />
}

function SessionsRoute({ api, readySessions, visits }: AppRoutesProps) {
  const { key } = useLocation()
  const [, streamer] = usePathSegments()
  useEffect(() => readySessions.warmUp(), [readySessions])
  if (!streamer) return null
  return (
    <SessionsPage
      key={key}
      api={api}
      streamer={streamer}
      visits={visits}
      visitKey={key}
      onPlayIntent={(session) => readySessions.expect(api.playlistUrl(session))}
      onPlayDoubt={readySessions.doubt}
    />
  )
}

/** Renders nothing where a parameter is missing. */
function PlayerRoute({ api, readySessions }: Omit<AppRoutesProps, 'visits'>) {
  const [, streamer, date, sessionId] = usePathSegments()
  if (!streamer || !date || !sessionId) return null
  return (
    <PlayerPage api={api} readySessions={readySessions} session={{ streamer, date, sessionId }} />
  )
}

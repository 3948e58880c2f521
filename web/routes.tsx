// Which page belongs to which path, and what each is handed: the one place where pages and parts meet.
import { Route, Routes, useLocation } from 'react-router'
import { LayoutAd } from './ads/ad-block.tsx'
import { AdsProvider } from './ads/ads-provider.tsx'
import type { PageApi } from './api/page-api.ts'
import { Layout } from './layout.tsx'
import { usePathSegments } from './navigation/use-path-segments.ts'
import type { VisitMemory } from './navigation/visit-memory.ts'
import { NotFoundPage } from './not-found-page.tsx'
import { PlayerPage } from './player/player-page.tsx'
import { preparePlay } from './player/prepare-play.ts'
import { SessionsPage } from './sessions/sessions-page.tsx'
import { StreamersPage } from './streamers/streamers-page.tsx'

interface AppRoutesProps {
  api: PageApi
  visits: VisitMemory
}

export function AppRoutes({ api, visits }: AppRoutesProps) {
  return (
    <Routes>
      <Route element={<Frame api={api} visits={visits} />}>
        <Route path="/" element={<StreamersRoute api={api} visits={visits} />} />
        <Route path="/s/:streamer" element={<SessionsRoute api={api} visits={visits} />} />
        <Route path="/p/:streamer?/:date?/:sessionId?" element={<PlayerRoute api={api} />} />
        <Route path="*" element={<NotFoundPage />} />
      </Route>
    </Routes>
  )
}

function Frame({ api, visits }: AppRoutesProps) {
  return (
    <AdsProvider config={api.config()}>
      <Layout
        visits={visits}
        headerSlot={<LayoutAd place="header" />}
        sidebarSlot={<LayoutAd place="sidebar" />}
        footerSlot={<LayoutAd place="footer" />}
      />
    </AdsProvider>
  )
}

function StreamersRoute({ api, visits }: AppRoutesProps) {
  const { key } = useLocation()
  // A new visit is a new page: Home leads to the whole list also from a search.
  return <StreamersPage key={key} api={api} visits={visits} visitKey={key} />
}

function SessionsRoute({ api, visits }: AppRoutesProps) {
  const { key } = useLocation()
  const [, streamer] = usePathSegments()
  if (!streamer) return null
  return (
    <SessionsPage
      key={key}
      api={api}
      streamer={streamer}
      visits={visits}
      visitKey={key}
      onPlayIntent={(session) => preparePlay(api.playlistUrl(session))}
    />
  )
}

/** Renders nothing where a parameter is missing. */
function PlayerRoute({ api }: { api: PageApi }) {
  const [, streamer, date, sessionId] = usePathSegments()
  if (!streamer || !date || !sessionId) return null
  return <PlayerPage api={api} session={{ streamer, date, sessionId }} />
}

// Maps paths to pages, and passes each page its dependencies.
import { useEffect } from 'react'
import { Navigate, Route, Routes, useLocation } from 'react-router'
import { pathPatterns, withoutTrailingSlashes } from '../shared/paths.ts'
import { LayoutAd } from './ads/ad-block.tsx'
import { AdsProvider } from './ads/ads-provider.tsx'
import type { PageApi } from './api/page-api.ts'
import { Layout } from './layout.tsx'
import { usePathSegments } from './navigation/use-path-segments.ts'
import type { VisitMemory } from './navigation/visit-memory.ts'
import { NotFoundPage } from './not-found-page.tsx'
import { PlayerPage } from './player/player-page.tsx'
import type { SessionPreloader } from './player/visit/session-preloader.ts'
import { SessionsPage } from './sessions/sessions-page.tsx'
import { OtherStreamers } from './streamers/other-streamers.tsx'
import { StreamersPage } from './streamers/streamers-page.tsx'

interface AppRoutesProps {
  api: PageApi
  preloader: SessionPreloader
  visits: VisitMemory
}

/**
 * All parameters are optional: without one the page renders nothing, instead of 'Page not found'.
 */
const playerPatterns = [pathPatterns.playerPage, pathPatterns.watchPage].map((pattern) =>
  pattern.replaceAll(/:\w+/g, '$&?'),
)

type RouteProps = Omit<AppRoutesProps, 'preloader'>

export function AppRoutes({ api, preloader, visits }: AppRoutesProps) {
  const location = useLocation()
  const pathname = withoutTrailingSlash(location.pathname)
  // Two slashes at the start would name another host: that is an unknown page.
  if (pathname !== location.pathname && !pathname.startsWith('//'))
    return <Navigate replace to={{ ...location, pathname }} />
  return (
    <Routes>
      <Route element={<Frame api={api} visits={visits} />}>
        <Route
          path={pathPatterns.streamersPage}
          element={<StreamersRoute api={api} visits={visits} />}
        />
        <Route
          path={pathPatterns.sessionsPage}
          element={<SessionsRoute api={api} preloader={preloader} visits={visits} />}
        />
        {playerPatterns.map((path) => (
          <Route key={path} path={path} element={<PlayerRoute api={api} preloader={preloader} />} />
        ))}
        <Route path="*" element={<NotFoundPage />} />
      </Route>
    </Routes>
  )
}

/** The server redirects too; a server of static files does not. */
function withoutTrailingSlash(pathname: string): string {
  return withoutTrailingSlashes(pathname) || '/'
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
  // A new key per visit: Home resets the search.
  return <StreamersPage key={key} api={api} visits={visits} visitKey={key} />
}

function SessionsRoute({ api, preloader, visits }: AppRoutesProps) {
  const { key } = useLocation()
  const [, streamer] = usePathSegments()
  useEffect(() => preloader.warmUp(), [preloader])
  if (!streamer) return null
  return (
    <SessionsPage
      key={key}
      api={api}
      streamer={streamer}
      visits={visits}
      visitKey={key}
      onPlayIntent={(session) => preloader.preload(api.playlistUrl(session))}
      onPlayIntentEnd={preloader.cancelSoon}
      withoutSessions={<OtherStreamers api={api} streamer={streamer} />}
    />
  )
}

/** Renders nothing if a parameter is missing. */
function PlayerRoute({ api, preloader }: Omit<AppRoutesProps, 'visits'>) {
  const [page, streamer, date, sessionId] = usePathSegments()
  if (!streamer || !date || !sessionId) return null
  return (
    <PlayerPage
      api={api}
      preloader={preloader}
      session={{ streamer, date, sessionId }}
      hasViews={page === 'w'}
    />
  )
}

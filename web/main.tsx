// The page's program: makes the parts, hands them to the routes and mounts them.
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { createAnalytics } from './analytics/analytics.ts'
import { AnalyticsContext } from './analytics/use-analytics.ts'
import { createPageApi } from './api/page-api.ts'
import { readVisitMemory } from './navigation/visit-memory.ts'
import { createReadySessions } from './player/ready-sessions.ts'
import { AppRoutes } from './routes.tsx'
import './styles/tokens.css'
import './styles/base.css'

const api = createPageApi(import.meta.env.VITE_API_BASE ?? '')
const readySessions = createReadySessions()
const analytics = createAnalytics({
  config: api
    .config()
    .settled(new AbortController().signal)
    .then((config) => config.analytics),
  activityUrl: api.activityUrl(),
})
// Reading the property alone throws where a visitor has switched storage off.
const openStorage = () => sessionStorage
const visits = readVisitMemory(openStorage)
// The first entry of every document has this key: only a reload or a return means the one that was left.
if (!isReturn()) visits.forget('default')
history.scrollRestoration = 'manual'
window.addEventListener('pagehide', () => visits.save(openStorage))

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      {/* A click is answered at once: a transition would let the page that is left finish first. */}
      <BrowserRouter useTransitions={false}>
        <AnalyticsContext value={analytics}>
          <AppRoutes api={api} readySessions={readySessions} visits={visits} />
        </AnalyticsContext>
      </BrowserRouter>
    </StrictMode>,
  )
}

function isReturn(): boolean {
  const [entry] = performance.getEntriesByType('navigation')
  return entry instanceof PerformanceNavigationTiming && entry.type !== 'navigate'
}

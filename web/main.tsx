// The entry of the page: creates its parts and mounts the routes.
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { createAnalytics } from './analytics/analytics.ts'
import { AnalyticsContext } from './analytics/use-analytics.ts'
import { createPageApi } from './api/page-api.ts'
import { readBasePath } from './base-path.ts'
import { openLanguage } from './language/open-language.ts'
import { readVisitMemory } from './navigation/visit-memory.ts'
import { previewOnRest } from './player/rest-preview.ts'
import { createSessionPreloader } from './player/visit/session-preloader.ts'
import { AppRoutes } from './routes.tsx'
import './styles/tokens.css'
import './styles/base.css'

const basePath = readBasePath()
const api = createPageApi(import.meta.env.VITE_API_BASE ?? basePath)
previewOnRest((session) => api.storyboardUrl(session))
const preloader = createSessionPreloader()
const analytics = createAnalytics({
  config: api
    .config()
    .settled(new AbortController().signal)
    .then((config) => config.analytics),
  activityUrl: api.activityUrl(),
})
// The getter itself throws if storage is off.
const openStorage = () => sessionStorage
const visits = readVisitMemory(openStorage)
// The first history entry of every document has this key. Only a reload or a return continues it.
if (!isReturn()) visits.forget('default')
history.scrollRestoration = 'manual'
window.addEventListener('pagehide', () => visits.save(openStorage))

const root = document.getElementById('root')
if (root) void openLanguage().then(() => render(root))

function render(root: HTMLElement): void {
  createRoot(root).render(
    <StrictMode>
      {/* Transitions would delay a navigation until the old page has finished rendering. */}
      <BrowserRouter basename={`${basePath}/`} useTransitions={false}>
        <AnalyticsContext value={analytics}>
          <AppRoutes api={api} preloader={preloader} visits={visits} />
        </AnalyticsContext>
      </BrowserRouter>
    </StrictMode>,
  )
}

function isReturn(): boolean {
  const [entry] = performance.getEntriesByType('navigation')
  return entry !== undefined && 'type' in entry && entry.type !== 'navigate'
}

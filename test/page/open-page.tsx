// The routes of the page in jsdom, with a fake API.
import { cleanup, render } from '@testing-library/react'
import { BrowserRouter } from 'react-router'
import { afterEach, beforeEach, onTestFinished, vi } from 'vitest'
import { createPageApi } from '../../web/api/page-api.ts'
import { VisitMemory } from '../../web/navigation/visit-memory.ts'
import { createSessionPreloader } from '../../web/player/visit/session-preloader.ts'
import { AppRoutes } from '../../web/routes.tsx'
import { startFakeApi } from './fake-api.ts'
import type { FakeApi, FakeLibrary } from './fake-api.ts'

/** For all tests of a file: jsdom has no layout and no media. */
export function stubBrowser(): void {
  beforeEach(() => {
    localStorage.clear()
    sessionStorage.clear()
    const observer = class {
      observe() {}
      unobserve() {}
      disconnect() {}
    }
    vi.stubGlobal('scrollTo', vi.fn())
    vi.stubGlobal('ResizeObserver', observer)
    vi.stubGlobal('IntersectionObserver', observer)
    vi.spyOn(HTMLMediaElement.prototype, 'load').mockImplementation(() => undefined)
    vi.spyOn(HTMLMediaElement.prototype, 'play').mockResolvedValue(undefined)
  })

  afterEach(() => {
    cleanup()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })
}

interface PageSetting {
  /** Default an empty one. */
  visits?: VisitMemory
  /** What surrounds the routes. */
  wrap?: (routes: React.ReactNode) => React.ReactNode
}

/** Opens the page at a path, like a direct link. The API ends with the test. */
export async function openPage(
  path: string,
  library: Partial<FakeLibrary>,
  { visits = new VisitMemory(), wrap = (routes) => routes }: PageSetting = {},
): Promise<FakeApi> {
  const api = await startFakeApi(library)
  onTestFinished(async () => api.close())
  // A new document starts with this history entry.
  window.history.replaceState(null, '', path)
  const routes = (
    <AppRoutes api={createPageApi(api.base)} preloader={createSessionPreloader()} visits={visits} />
  )
  render(wrap(<BrowserRouter>{routes}</BrowserRouter>))
  return api
}

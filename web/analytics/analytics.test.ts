// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AnalyticsConfig } from '../../shared/contract.ts'
import { createAnalytics } from './analytics.ts'

let sent: string[]

beforeEach(() => {
  sent = []
  vi.stubGlobal('navigator', {
    sendBeacon: (_url: string, body: string) => {
      sent.push(...eventsOf(body))
      return true
    },
  })
  window.history.replaceState(null, '', '/')
})
afterEach(() => {
  window.dispatchEvent(new Event('pagehide'))
  vi.unstubAllGlobals()
  document.head.replaceChildren()
  delete window.dataLayer
  delete window.gtag
})

function eventsOf(body: string): string[] {
  const events: { path?: string; name: string }[] = JSON.parse(body)
  return events.map(({ name, path }) => path ?? name)
}

/** Waits for promises and the lazy import, then flushes the batch. */
async function settle(): Promise<void> {
  await vi.dynamicImportSettled()
  await new Promise((resolve) => setTimeout(resolve, 20))
  window.dispatchEvent(new Event('pagehide'))
}

function start(): { respond: (config: AnalyticsConfig) => void; fail: () => void; view: Viewer } {
  const { promise, resolve, reject } = Promise.withResolvers<AnalyticsConfig>()
  const { track } = createAnalytics({ config: promise, activityUrl: '/api/activity' })
  const view = (path: string) => {
    window.history.replaceState(null, '', path)
    track({ name: 'page_view', path, title: `Title of ${path}` })
  }
  return { respond: resolve, fail: () => reject(new Error('no response')), view }
}
type Viewer = (path: string) => void

test('queues events until the configuration is loaded, and sends them in order', async () => {
  const { respond, view } = start()
  view('/')
  view('/s/alice')
  await settle()
  expect(sent).toEqual([])
  respond({ firstParty: true })
  await settle()
  view('/s/bob')
  await settle()
  expect(sent).toEqual(['/', '/s/alice', '/s/bob'])
})

test('sends and loads nothing if analytics is off', async () => {
  const { respond, view } = start()
  view('/')
  respond({ firstParty: false })
  await settle()
  view('/s/alice')
  await settle()
  expect(sent).toEqual([])
  expect(document.head.childElementCount).toBe(0)
})

test('is off without a configuration', async () => {
  const { fail, view } = start()
  view('/')
  fail()
  await settle()
  view('/s/alice')
  await settle()
  expect(sent).toEqual([])
})

test('queues at most two hundred events', async () => {
  const { respond, view } = start()
  for (let i = 0; i < 250; i += 1) view(`/s/${i}`)
  respond({ firstParty: true })
  await settle()
  expect(sent).toHaveLength(200)
  expect(sent.at(-1)).toBe('/s/199')
})

test('sends each page view with its own URL and referrer, even if it is sent later', async () => {
  vi.spyOn(document, 'referrer', 'get').mockReturnValue('https://search.example/')
  const { respond, view } = start()
  view('/')
  view('/s/alice')
  respond({ firstParty: false, ga4: { measurementId: 'G-1', consent: {} } })
  await settle()
  const origin = window.location.origin
  const pages = (window.dataLayer ?? []).map((command) => Object.values(Object(command))[2])
  expect(pages.slice(2)).toEqual([
    {
      page_title: 'Title of /',
      page_location: `${origin}/`,
      page_referrer: 'https://search.example/',
    },
    {
      page_title: 'Title of /s/alice',
      page_location: `${origin}/s/alice`,
      page_referrer: `${origin}/`,
    },
  ])
})

test('sends reports of the player to the own collector at once, and to no service', async () => {
  const { respond } = start()
  respond({ firstParty: true, ga4: { measurementId: 'G-1', consent: {} } })
  await settle()
  window.dispatchEvent(new CustomEvent('quality', { detail: { name: 'vast_error', code: 303 } }))
  // Collectors of the tests above listen, too.
  expect(new Set(sent)).toEqual(new Set(['vast_error']))
  expect(JSON.stringify(window.dataLayer ?? [])).not.toContain('vast_error')
})

// @vitest-environment jsdom
// The exact calls to each service.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AnalyticsConfig } from '../../shared/contract.ts'
import { createTargets } from './create-targets.ts'
import type { TrackedEvent, VisitorEvent } from './visitor-event.ts'

let beacons: { url: string; events: unknown[] }[]

beforeEach(() => {
  beacons = []
  vi.stubGlobal('navigator', { sendBeacon })
})
afterEach(() => {
  window.dispatchEvent(new Event('pagehide'))
  vi.useRealTimers()
  vi.unstubAllGlobals()
  document.head.replaceChildren()
  for (const name of ['dataLayer', 'gtag', 'plausible', 'umami'] as const) delete window[name]
})

function sendBeacon(url: string, body: string): boolean {
  beacons.push({ url, events: JSON.parse(body) })
  return true
}

const session = { streamer: 'a/b', date: '2026-01-31', sessionId: 'late night' }
const view: VisitorEvent = { name: 'page_view', path: '/s/a%2Fb', title: 'Sessions: a/b' }
const list: VisitorEvent = {
  name: 'view_item_list',
  list: 'streamers',
  items: [{ streamer: 'alice' }, { streamer: 'a/b' }],
}
const select: VisitorEvent = { name: 'select_item', list: 'recommended', item: session }
const begin: VisitorEvent = { name: 'begin_video', session }

const url = 'https://site.example/s/a%2Fb'
const referrer = 'https://site.example/'
const off: AnalyticsConfig = { firstParty: false }
const ga4 = { measurementId: 'G-1 2', consent: {} }
const plausible = { scriptUrl: 'https://p.example/script.manual.js', domain: 'site.example' }
const umami = { scriptUrl: 'https://u.example/script.js', websiteId: 'w-1' }

function start(config: Partial<AnalyticsConfig>): (event: VisitorEvent) => void {
  const target = createTargets({ ...off, ...config }, '/api/activity')
  return (event) => target(trackedEvent(event))
}

function trackedEvent(event: VisitorEvent): TrackedEvent {
  return { event, url, referrer }
}

function scriptOf(src: string): HTMLScriptElement {
  const script = [...document.scripts].find((element) => element.src === src)
  if (!script) throw new Error(`no script ${src}`)
  return script
}

const leave = () => window.dispatchEvent(new Event('pagehide'))
const sentEvents = () => beacons.flatMap(({ events }) => events)
const gtagCommands = () =>
  (window.dataLayer ?? []).map((command) => {
    // gtag.js checks nothing else.
    expect(Object.prototype.toString.call(command)).toBe('[object Arguments]')
    return Object.values(Object(command))
  })

test('sends every kind of event to the first-party collector', () => {
  const track = start({ firstParty: true })
  for (const event of [view, list, select, begin]) track(event)
  leave()
  expect(beacons).toEqual([
    {
      url: '/api/activity',
      events: [
        view,
        { name: 'view_item_list', list: 'streamers', items: ['alice', 'a/b'] },
        { name: 'select_item', list: 'recommended', item: 'a%2Fb/2026-01-31/late%20night' },
        { name: 'begin_video', ...session },
      ],
    },
  ])
})

test('sends events within 250 ms in one request', () => {
  vi.useFakeTimers()
  const track = start({ firstParty: true })
  track(view)
  vi.advanceTimersByTime(200)
  track(begin)
  expect(beacons).toHaveLength(0)
  vi.advanceTimersByTime(50)
  expect(beacons.map(({ events }) => events.length)).toEqual([2])
  leave()
  expect(beacons).toHaveLength(1)
})

test('flushes when the page is hidden', () => {
  const track = start({ firstParty: true })
  track(view)
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  document.dispatchEvent(new Event('visibilitychange'))
  expect(sentEvents()).toEqual([view])
})

test('splits a long list into events of 200 items and requests below 64 KiB, without loss', () => {
  const items = Array.from({ length: 1001 }, (_, at) => ({
    streamer: `${at} ${'ж'.repeat(200)}`,
    date: '2026-01-31',
    sessionId: 'x'.repeat(200),
  }))
  const track = start({ firstParty: true })
  track({ name: 'view_item_list', list: 'sessions', items })
  leave()
  for (const { events } of beacons) {
    expect(new TextEncoder().encode(JSON.stringify(events)).length).toBeLessThanOrEqual(64 * 1024)
  }
  const sent = sentEvents().map((event) => Object(event).items.length)
  expect(Math.max(...sent)).toBeLessThanOrEqual(200)
  expect(sent.reduce((sum, count) => sum + count, 0)).toBe(1001)
})

test.each([{ globalPrivacyControl: true }, { doNotTrack: '1' }])(
  'sends nothing to the first-party collector with %j',
  (preference) => {
    vi.stubGlobal('navigator', { sendBeacon, ...preference })
    start({ firstParty: true })(view)
    leave()
    expect(beacons).toEqual([])
  },
)

test.each([
  ['returns false', () => false],
  ['is missing', undefined],
])('sends by fetch with keepalive if sendBeacon %s', (_how, beacon) => {
  vi.stubGlobal('navigator', { sendBeacon: beacon })
  const fetched = vi.fn<typeof fetch>(async () => new Response())
  vi.stubGlobal('fetch', fetched)
  start({ firstParty: true })(view)
  leave()
  expect(fetched).toHaveBeenCalledExactlyOnceWith('/api/activity', {
    method: 'POST',
    body: JSON.stringify([view]),
    credentials: 'omit',
    keepalive: true,
  })
})

test('ignores that no request to the collector succeeds', async () => {
  vi.stubGlobal('navigator', { sendBeacon: () => false })
  const fetched = vi.fn<typeof fetch>(() => Promise.reject(new TypeError('blocked')))
  vi.stubGlobal('fetch', fetched)
  start({ firstParty: true })(view)
  leave()
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(fetched).toHaveBeenCalledTimes(2)
})

test('sends consent to Google Analytics first, then explicit page views and events', () => {
  const consent = { ad_storage: 'denied', analytics_storage: 'granted' } as const
  const track = start({ ga4: { ...ga4, consent } })
  expect(scriptOf('https://www.googletagmanager.com/gtag/js?id=G-1%202').async).toBe(true)
  for (const event of [view, list, select, begin]) track(event)
  expect(gtagCommands()).toEqual([
    ['consent', 'default', consent],
    ['js', expect.any(Date)],
    ['config', 'G-1 2', { send_page_view: false }],
    [
      'event',
      'page_view',
      { page_title: 'Sessions: a/b', page_location: url, page_referrer: referrer },
    ],
    [
      'event',
      'view_item_list',
      {
        item_list_id: 'streamers',
        item_list_name: 'streamers',
        items: [
          { item_id: 'alice', item_name: 'alice', item_category: 'streamer' },
          { item_id: 'a/b', item_name: 'a/b', item_category: 'streamer' },
        ],
      },
    ],
    [
      'event',
      'select_item',
      {
        item_list_id: 'recommended',
        item_list_name: 'recommended',
        items: [
          {
            item_id: 'a/b/2026-01-31/late night',
            item_name: 'late night',
            item_brand: 'a/b',
            item_category: 'session',
            item_variant: '2026-01-31',
          },
        ],
      },
    ],
    ['event', 'begin_video', { streamer: 'a/b', session: 'late night', date: '2026-01-31' }],
  ])
})

test('sends Google only configured consent, and exposes gtag for a consent dialog', () => {
  start({ ga4 })
  window.gtag?.('consent', 'update', { ad_storage: 'granted' })
  expect(gtagCommands().map(([command, kind]) => [command, kind])).toEqual([
    ['js', expect.any(Date)],
    ['config', 'G-1 2'],
    ['consent', 'update'],
  ])
})

test('sends Plausible explicit page views, and events with flat properties', () => {
  const track = start({ plausible })
  expect(scriptOf(plausible.scriptUrl).dataset['domain']).toBe('site.example')
  for (const event of [view, list]) track(event)
  // As the script does when it loads: processes the queue and replaces it.
  const calls = (window.plausible?.q ?? []).map((call) => Object.values(Object(call)))
  window.plausible = (...call) => void calls.push(call)
  for (const event of [select, begin]) track(event)
  expect(calls).toEqual([
    ['pageview', { u: url }],
    ['view_item_list', { u: url, props: { list: 'streamers', items: 2 } }],
    [
      'select_item',
      {
        u: url,
        props: {
          list: 'recommended',
          streamer: 'a/b',
          session: 'late night',
          date: '2026-01-31',
        },
      },
    ],
    [
      'begin_video',
      { u: url, props: { streamer: 'a/b', session: 'late night', date: '2026-01-31' } },
    ],
  ])
})

test('sends Umami all events once its script has loaded', async () => {
  const track = start({ umami })
  const script = scriptOf(umami.scriptUrl)
  expect(Object.fromEntries(Object.entries(script.dataset))).toEqual({
    websiteId: 'w-1',
    autoTrack: 'false',
  })
  track(view)
  const payloads: unknown[] = []
  window.umami = { track: (build) => payloads.push(build({ website: 'w-1', url: '/other' })) }
  script.dispatchEvent(new Event('load'))
  await Promise.resolve()
  track(begin)
  expect(payloads).toEqual([
    { website: 'w-1', url, referrer, title: 'Sessions: a/b' },
    {
      website: 'w-1',
      url,
      referrer,
      name: 'begin_video',
      data: { streamer: 'a/b', session: 'late night', date: '2026-01-31' },
    },
  ])
})

test('sends to all targets, even if one of them throws', () => {
  const track = start({ firstParty: true, ga4, plausible })
  window.plausible = () => {
    throw new Error('broken')
  }
  track(begin)
  leave()
  expect(sentEvents()).toEqual([{ name: 'begin_video', ...session }])
  expect(gtagCommands().at(-1)?.[1]).toBe('begin_video')
})

test('sends and queues nothing if the scripts are blocked', async () => {
  const track = start({ ga4, plausible, umami })
  for (const script of document.scripts) script.dispatchEvent(new Event('error'))
  await new Promise((resolve) => setTimeout(resolve, 5))
  const before = window.dataLayer?.length
  for (const event of [view, begin]) track(event)
  expect(window.dataLayer?.length).toBe(before)
  expect(window.plausible?.q).toBeUndefined()
})

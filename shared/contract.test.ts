import { describe, expect, it } from 'vitest'
import {
  activityEvents,
  configResponse,
  noExtras,
  sessionsResponse,
  streamersResponse,
} from './contract.ts'
import type { ConfigResponse } from './contract.ts'
import { EVENTS_PER_REQUEST, ITEMS_PER_EVENT } from './limits.ts'
import { parseShape } from './shape.ts'

describe('streamersResponse', () => {
  it('reads streamers without any other fields', () => {
    const body = {
      streamers: [{ name: 'alice', recording_count: 2, path: '/secret' }],
      total: 1,
    }
    expect(parseShape(streamersResponse, body)).toEqual({
      streamers: [{ name: 'alice', recording_count: 2 }],
    })
  })

  it.each([null, [], 'no', { streamers: 1 }, { streamers: [null] }, { streamers: [{ name: 1 }] }])(
    'rejects %j',
    (body) => {
      expect(() => parseShape(streamersResponse, body)).toThrow(TypeError)
    },
  )
})

describe('sessionsResponse', () => {
  it('reads sessions with and without a duration', () => {
    const body = [
      { date: '2026-01-31', sessionId: '1', duration: '0:04:05' },
      { date: '2026-01-31', sessionId: '2', duration: null },
      { date: '2026-01-31', sessionId: '3' },
    ]
    expect(parseShape(sessionsResponse, body)).toEqual([
      { date: '2026-01-31', sessionId: '1', duration: '0:04:05' },
      { date: '2026-01-31', sessionId: '2' },
      { date: '2026-01-31', sessionId: '3' },
    ])
  })

  it.each([null, {}, [1], [{ date: '2026-01-31' }]])('rejects %j', (body) => {
    expect(() => parseShape(sessionsResponse, body)).toThrow(TypeError)
  })
})

describe('configResponse', () => {
  const full: ConfigResponse = {
    ads: {
      provider: 'network',
      scriptPath: '/api/proxy-ad/a.example/ad-provider.js',
      insClass: 'eas6a97888e2',
      vastUrl: 'https://ads.example/vast?idzone={zone}',
      zones: { banner: '1', inline: '2', video: '3' },
      fill: 'creative',
    },
    analytics: {
      firstParty: true,
      ga4: {
        measurementId: 'G-1',
        consent: { ad_storage: 'denied', analytics_storage: 'granted' },
      },
      plausible: { scriptUrl: 'https://plausible.io/js/script.manual.js', domain: 'a.example' },
      umami: { scriptUrl: 'https://cloud.umami.is/script.js', websiteId: 'w' },
    },
  }

  it('reads a full configuration unchanged', () => {
    expect(parseShape(configResponse, full)).toEqual(full)
  })

  it.each([null, 7, 'text', [], {}, { ads: null, analytics: 3 }, { ads: { provider: 'house' } }])(
    'switches everything off for %j',
    (body) => {
      expect(parseShape(configResponse, body)).toEqual(noExtras)
    },
  )

  it('drops single fields of another shape', () => {
    const body = {
      ads: { provider: 'house', insClass: 'x', scriptPath: 1, zones: { banner: 5, inline: '' } },
      analytics: { firstParty: 'yes', ga4: { measurementId: 1 }, plausible: { domain: 'a' } },
    }
    expect(parseShape(configResponse, body)).toEqual({
      ads: { provider: 'house', insClass: 'x', zones: {}, fill: 'frame' },
      analytics: { firstParty: false },
    })
  })

  it('treats every consent but `granted` as denied', () => {
    const ga4 = { measurementId: 'G-1', consent: { ad_storage: 1, analytics_storage: 'granted' } }
    expect(parseShape(configResponse, { analytics: { ga4 } }).analytics.ga4?.consent).toEqual({
      ad_storage: 'denied',
      analytics_storage: 'granted',
    })
  })
})

describe('activityEvents', () => {
  const events = [
    { name: 'page_view', path: '/', title: 'Streamers' },
    { name: 'view_item_list', list: 'streamers', items: ['alice'] },
    { name: 'select_item', list: 'recommended', item: 'alice/d/1' },
    { name: 'begin_video', streamer: 'alice', date: 'd', sessionId: '1' },
    { name: 'ad_skip', creative: 'a', zone: '1' },
  ]

  it('reads every kind of event', () => {
    expect(activityEvents(events)).toEqual(events)
  })

  it.each([
    [{ name: 'page_view', path: '/' }],
    [{ name: 'purchase' }],
    [{ name: 'select_item', list: 'friends', item: 'a' }],
    [{ name: 'begin_video', streamer: 'alice', date: 'd', sessionId: 1 }],
  ])('rejects all events for one of another shape: %j', (event) => {
    expect(activityEvents([...events, event])).toBeUndefined()
  })

  it('limits the number of events and of items', () => {
    const [view] = events
    expect(activityEvents(Array(EVENTS_PER_REQUEST).fill(view))).toHaveLength(EVENTS_PER_REQUEST)
    expect(activityEvents(Array(EVENTS_PER_REQUEST + 1).fill(view))).toBeUndefined()
    const listed = (length: number) => [
      { name: 'view_item_list', list: 'sessions', items: Array(length).fill('a') },
    ]
    expect(activityEvents(listed(ITEMS_PER_EVENT))).toBeDefined()
    expect(activityEvents(listed(ITEMS_PER_EVENT + 1))).toBeUndefined()
  })
})

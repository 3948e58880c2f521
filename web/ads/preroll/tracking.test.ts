// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest'
import { fillMacros, formatPlayhead, playMacros, requestMacros } from './macros.ts'
import { createTracking, sendError } from './tracking.ts'
import type { Tracking } from './tracking.ts'

const events = [
  'creativeView',
  'start',
  'firstQuartile',
  'midpoint',
  'thirdQuartile',
  'complete',
  'skip',
  'closeLinear',
  'pause',
  'resume',
]
const ad = {
  impressionUrls: ['impression-1', 'impression-2'],
  errorUrls: ['error'],
  clickTrackingUrls: ['click'],
  unverifiedUrls: [],
  isSkippable: false,
  isInteractive: false,
  tracking: [
    ...events.map((event) => ({ event, url: event, offset: undefined })),
    { event: 'progress', url: 'at-5-s', offset: { seconds: 5 } },
    { event: 'progress', url: 'at-90-%', offset: { share: 0.9 } },
    { event: 'progress', url: 'at-no-time', offset: undefined },
  ],
}

let sent: string[]
let tracking: Tracking

function follow(isSkippable: boolean): Tracking {
  return createTracking({ ...ad, isSkippable }, (url) => sent.push(url))
}

beforeEach(() => {
  sent = []
  tracking = follow(false)
})

test('sends impressions and `start` once, however often playback starts', () => {
  tracking.started()
  tracking.started()
  expect(sent).toEqual(['impression-1', 'impression-2', 'creativeView', 'start'])
})

test('sends each quartile and offset once, when it is reached', () => {
  tracking.progressed({ seconds: 2.4, durationSeconds: 10 })
  expect(sent).toEqual([])
  tracking.progressed({ seconds: 2.5, durationSeconds: 10 })
  tracking.progressed({ seconds: 2.6, durationSeconds: 10 })
  expect(sent).toEqual(['firstQuartile'])
  tracking.progressed({ seconds: 5, durationSeconds: 10 })
  expect(sent).toEqual(['firstQuartile', 'midpoint', 'at-5-s'])
  tracking.progressed({ seconds: 9, durationSeconds: 10 })
  expect(sent.slice(3)).toEqual(['thirdQuartile', 'at-90-%'])
})

test('sends no quartile while the duration is unknown', () => {
  tracking.progressed({ seconds: 6, durationSeconds: 0 })
  expect(sent).toEqual(['at-5-s'])
})

test('sends all quartiles at the end of a short ad', () => {
  tracking.completed(1)
  expect(sent).toEqual(['firstQuartile', 'midpoint', 'thirdQuartile', 'at-90-%', 'complete'])
})

test('sends 409 and a reason once for the parts of an ad that are not run, and plays on', () => {
  const codes: unknown[] = []
  const parts = { isInteractive: true, unverifiedUrls: ['unverified'] }
  const partly = createTracking({ ...ad, ...parts }, (url, values) => codes.push([url, values]))
  partly.started()
  partly.started()
  expect(codes.slice(-2)).toEqual([
    ['error', { ERRORCODE: '409' }],
    ['unverified', { REASON: '2' }],
  ])
  partly.failed(405)
  expect(codes.slice(-1)).toEqual([['error', { ERRORCODE: '405' }]])
})

test('sends `skip` for a skippable ad, else `closeLinear`', () => {
  tracking.closed()
  follow(true).closed()
  expect(sent).toEqual(['closeLinear', 'skip'])
})

test('sends click, pause and resume once', () => {
  for (let i = 0; i < 2; i++) {
    tracking.clicked()
    tracking.paused()
    tracking.resumed()
  }
  expect(sent).toEqual(['click', 'pause', 'resume'])
})

test('sends an error once, with its code', () => {
  const codes: unknown[] = []
  const failing = createTracking(ad, (url, values) => codes.push([url, values['ERRORCODE']]))
  failing.failed(402)
  failing.failed(405)
  expect(codes).toEqual([['error', '402']])
})

test('sends the code to every error URL', () => {
  const sentUrls: unknown[] = []
  sendError(['a', 'b'], 303, (url, values) =>
    sentUrls.push(fillMacros(`${url}?[ERRORCODE]`, values)),
  )
  expect(sentUrls).toEqual(['a?303', 'b?303'])
})

test('reports the code to the window, also without an error URL', () => {
  const reports: unknown[] = []
  const listening = new AbortController()
  window.addEventListener('quality', ({ detail }) => reports.push(detail), {
    signal: listening.signal,
  })
  sendError([], 303, () => undefined)
  tracking.failed(405)
  tracking.failed(402)
  listening.abort()
  expect(reports).toEqual([
    { name: 'vast_error', code: 303 },
    { name: 'vast_error', code: 405 },
  ])
})

test('replaces macros, URL-encoded, and leaves other brackets unchanged', () => {
  const values = { PAGEURL: 'https://a.example/?b=c&d', CACHEBUSTING: '$&' }
  expect(fillMacros('?p=[PAGEURL]&c=%5BCACHEBUSTING%5D&n=[IFA]&x=[y]&z=[Z]', values)).toBe(
    '?p=https%3A%2F%2Fa.example%2F%3Fb%3Dc%26d&c=%24%26&n=-1&x=[y]&z=[Z]',
  )
})

test('separates the values of a list by commas, which it does not encode', () => {
  expect(fillMacros('?s=[PLAYERSIZE]', { PLAYERSIZE: ['640', '3 60'] })).toBe('?s=640,3%2060')
  const playing = playMacros(document.createElement('video'))
  expect(fillMacros('?[PLAYERSIZE]&[PLAYERSTATE]&[INVENTORYSTATE]', playing)).toBe(
    '?0,0&muted&mautoplayed',
  )
})

test('fills the macros of consent frameworks, also with the number of a vendor', () => {
  const values = { GDPR: '1', GDPR_CONSENT: 'CQ.YA', GPP_STRING: 'DB~1', GPP_SID: ['2', '7'] }
  const url =
    '?a=${GDPR}&b=${GDPR_CONSENT}&c=${GDPR_CONSENT_812}&d=$%7BGDPR_CONSENT_1%7D&e=${GPP_STRING_9}' +
    '&f=${GPP_SID}&g=[GDPR]&h=[GDPR_CONSENT]'
  expect(fillMacros(url, values)).toBe('?a=1&b=CQ.YA&c=CQ.YA&d=CQ.YA&e=DB~1&f=2,7&g=1&h=CQ.YA')
})

test('leaves the values of unknown consent empty, -1 in brackets, and other text unchanged', () => {
  const url =
    '?a=${GDPR}&b=${GDPR_CONSENT_812}&c=[GDPRCONSENT]&d=${OTHER}&e=${GDPR_CONSENT_x}&f={gdpr}'
  expect(fillMacros(url, {})).toBe('?a=&b=&c=-1&d=${OTHER}&e=${GDPR_CONSENT_x}&f={gdpr}')
})

test.each([
  ['globalPrivacyControl', true, '1'],
  ['doNotTrack', '1', '1'],
  ['doNotTrack', '0', '-1'],
])('replaces LIMITADTRACKING with %s %s by %s', (name, value, sentValue) => {
  Object.defineProperty(navigator, name, { value, configurable: true })
  expect(fillMacros('?[LIMITADTRACKING]', requestMacros())).toBe(`?${sentValue}`)
  Reflect.deleteProperty(navigator, name)
})

test.each([
  [0, '00:00:00.000'],
  [75.25, '00:01:15.250'],
  [Number.MAX_SAFE_INTEGER, '23:59:59.999'],
])('formats %d seconds as a playhead', (seconds, text) => {
  expect(formatPlayhead(seconds)).toBe(text)
})

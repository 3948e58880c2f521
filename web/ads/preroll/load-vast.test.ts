// @vitest-environment jsdom
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openConsent } from './consent.ts'
import { loadVast } from './load-vast.ts'
import { patienceMs } from '../../../test/support/patience.ts'

type TcfCallback = (data: object, success: boolean) => void
type Handler = string | ((request: IncomingMessage, response: ServerResponse) => void)

/** The ad server's responses by path; every other path is 404. */
let handlers: Record<string, Handler>
let requested: string[]
let server: Server
let origin: string
let left: AbortController

beforeEach(async () => {
  handlers = {}
  requested = []
  left = new AbortController()
  server = createServer((request, response) => {
    requested.push(request.url ?? '')
    response.setHeader('access-control-allow-origin', '*')
    const handler = handlers[new URL(request.url ?? '', 'http://ads.example').pathname]
    if (handler === undefined) response.writeHead(404).end('no')
    else if (typeof handler === 'string') response.end(handler)
    else handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  origin = `http://127.0.0.1:${address.port}`
})

afterEach(async () => {
  left.abort()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function load(
  path: string,
  {
    timeoutMs = patienceMs,
    canPlay = (type: string) => ['video/mp4', 'audio/mpeg'].includes(type),
  } = {},
) {
  const consent = openConsent(left.signal)
  return loadVast(origin + path, { consent, signal: left.signal, timeoutMs, canPlay })
}

function inline(
  name: string,
  mediaFiles = `<MediaFile type="video/mp4">/${name}.mp4</MediaFile>`,
): string {
  return `<VAST version="3.0"><Ad><InLine>${beacons(name)}<Creatives><Creative><Linear>
    <Duration>00:00:15</Duration>
    ${tracking(name)}<VideoClicks><ClickTracking>/click-${name}</ClickTracking></VideoClicks>
    <MediaFiles>${mediaFiles}</MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>`
}

function wrapper(name: string, next: string, attributes = ''): string {
  return `<VAST version="3.0"><Ad><Wrapper ${attributes}>
    ${beacons(name)}<VASTAdTagURI>${next}</VASTAdTagURI>
    <Creatives><Creative><Linear>${tracking(name)}
    <VideoClicks><ClickThrough>https://${name}.example/</ClickThrough></VideoClicks>
    </Linear></Creative></Creatives></Wrapper></Ad></VAST>`
}

function beacons(name: string): string {
  return `<Error>/error-${name}</Error><Impression>/impression-${name}</Impression>`
}

function tracking(name: string): string {
  return `<TrackingEvents><Tracking event="start">/start-${name}</Tracking></TrackingEvents>`
}

/** `/1` is the first of `wrappers` wrappers around an ad. */
function chain(wrappers: number): void {
  for (let i = 1; i <= wrappers; i++) handlers[`/${i}`] = wrapper(`w${i}`, `/${i + 1}`)
  handlers[`/${wrappers + 1}`] = inline('ad')
}

function errorPaths(...names: string[]): string[] {
  return names.map((name) => `${origin}/error-${name}`)
}

test('finds the ad with all its tracking URLs', async () => {
  handlers['/vast'] = inline('ad')
  expect(await load('/vast')).toEqual({
    status: 'found',
    ad: {
      mediaUrl: `${origin}/ad.mp4`,
      durationSeconds: 15,
      isSkippable: false,
      isInteractive: false,
      impressionUrls: [`${origin}/impression-ad`],
      errorUrls: [`${origin}/error-ad`],
      unverifiedUrls: [],
      tracking: [{ event: 'start', url: `${origin}/start-ad`, offset: undefined }],
      clickTrackingUrls: [`${origin}/click-ad`],
      clickThroughUrl: undefined,
    },
  })
})

test.each([1, 2, 3, 4, 5])('follows %i wrappers', async (wrappers) => {
  chain(wrappers)
  const outcome = await load('/1')
  expect(outcome).toMatchObject({ status: 'found', ad: { mediaUrl: `${origin}/ad.mp4` } })
  expect(requested).toHaveLength(wrappers + 1)
})

test('merges the tracking of the chain, and uses the innermost click-through', async () => {
  chain(2)
  expect(await load('/1')).toMatchObject({
    ad: {
      impressionUrls: ['w1', 'w2', 'ad'].map((name) => `${origin}/impression-${name}`),
      errorUrls: errorPaths('w1', 'w2', 'ad'),
      tracking: ['w1', 'w2', 'ad'].map((name) => ({ url: `${origin}/start-${name}` })),
      clickThroughUrl: 'https://w2.example/',
    },
  })
})

test('stops at the sixth wrapper', async () => {
  chain(6)
  expect(await load('/1')).toEqual({
    status: 'none',
    code: 302,
    errorUrls: errorPaths('w1', 'w2', 'w3', 'w4', 'w5', 'w6'),
  })
  expect(requested).toHaveLength(6)
})

test('stops at a cycle of wrappers', async () => {
  handlers['/a'] = wrapper('a', '/b?x=[CACHEBUSTING]')
  handlers['/b'] = wrapper('b', '/a')
  expect(await load('/a')).toMatchObject({ code: 302, errorUrls: errorPaths('a', 'b') })
  expect(requested).toHaveLength(2)
})

test('does not follow a wrapper if the one before forbids it', async () => {
  handlers['/a'] = wrapper('a', '/b', 'followAdditionalWrappers="false"')
  handlers['/b'] = wrapper('b', '/c')
  expect(await load('/a')).toMatchObject({ status: 'none', code: 303 })
})

test('replaces the macros of the URL, without the watched session', async () => {
  const { href } = location
  history.replaceState(null, '', '/p/alice/2026-01-31/1001?t=90')
  handlers['/vast'] = inline('ad')
  await load('/vast?cb=[CACHEBUSTING]&page=[PAGEURL]&gdpr=[GDPRCONSENT]&own=[mine]')
  history.replaceState(null, '', href)
  const sent = new URL(requested[0] ?? '', origin).searchParams
  expect(sent.get('cb')).toMatch(/^\d{8}$/)
  expect(sent.get('page')).toBe(`${location.origin}/`)
  expect(sent.get('gdpr')).toBe('-1')
  expect(sent.get('own')).toBe('[mine]')
})

test('selects the first file that is not VPAID and that the browser can play', async () => {
  handlers['/vast'] = inline(
    'ad',
    `<MediaFile apiFramework="vpaid" type="video/mp4">/vpaid.mp4</MediaFile>
    <MediaFile type="video/x-flv">/a.flv</MediaFile><MediaFile>/untyped</MediaFile>
    <MediaFile type="video/mp4">/late.mp4</MediaFile>`,
  )
  expect(await load('/vast')).toMatchObject({ ad: { mediaUrl: `${origin}/untyped` } })
})

test('selects the first media file if the browser can play it', async () => {
  handlers['/vast'] = inline(
    'ad',
    `<MediaFile type="video/mp4">/small.mp4</MediaFile>
    <MediaFile type="video/mp4">/large.mp4</MediaFile>`,
  )
  expect(await load('/vast')).toMatchObject({ ad: { mediaUrl: `${origin}/small.mp4` } })
})

test.each([
  '',
  '<MediaFile type="video/mp4"/>',
  '<MediaFile type="video/x-flv">/a.flv</MediaFile>',
  '<MediaFile type="application/javascript" apiFramework="VPAID">/a.js</MediaFile>',
  '<MediaFile type="audio/mpeg">/a.mp3</MediaFile>',
])('finds no ad with the media files "%s"', async (mediaFiles) => {
  handlers['/vast'] = inline('ad', mediaFiles)
  expect(await load('/vast')).toEqual({ status: 'none', code: 403, errorUrls: errorPaths('ad') })
})

test('returns the error URLs of an empty document', async () => {
  handlers['/vast'] = '<VAST version="3.0"><Error>/error-empty</Error></VAST>'
  expect(await load('/vast')).toEqual({ status: 'none', code: 303, errorUrls: errorPaths('empty') })
})

test('finds no ad in an empty body or without a body', async () => {
  handlers['/vast'] = ' '
  expect(await load('/vast')).toEqual({ status: 'none', code: 303, errorUrls: [] })
  handlers['/vast'] = (_request, response) => response.writeHead(204).end()
  expect(await load('/vast')).toEqual({ status: 'none', code: 303, errorUrls: [] })
})

test.each([
  ['missing', 301, undefined],
  ['malformed', 100, '<VAST><Ad>'],
  ['a page', 101, '<html/>'],
  ['VAST 1', 102, '<VideoAdServingTemplate/>'],
])(
  'returns the error URLs of the wrapper if the next document is %s',
  async (_what, code, handler) => {
    handlers['/a'] = wrapper('a', '/b')
    if (handler) handlers['/b'] = handler
    expect(await load('/a')).toEqual({ status: 'none', code, errorUrls: errorPaths('a') })
  },
)

test('finds no ad if the server is unreachable', async () => {
  handlers['/a'] = wrapper('a', 'http://127.0.0.1:1/')
  expect(await load('/a')).toMatchObject({ status: 'none', code: 301 })
})

test.each([
  ['ftp://ads.example/', 300],
  ['javascript:alert(1)', 300],
  ['http://[', 300],
  ['', 101],
])('does not follow a wrapper to "%s"', async (next, code) => {
  handlers['/a'] = wrapper('a', next)
  expect(await load('/a')).toEqual({ status: 'none', code, errorUrls: errorPaths('a') })
})

const companions = '<Creative><CompanionAds required="any"><Companion/></CompanionAds></Creative>'
const playable = `<Creative><Linear><MediaFiles><MediaFile>/a.mp4</MediaFile></MediaFiles>
  </Linear></Creative>`

test.each([
  { what: 'no creative', creatives: '', code: 101 },
  { what: 'an audio ad', creatives: playable, attributes: 'adType="audio"', code: 200 },
  { what: 'companions', creatives: '<Creative><CompanionAds/></Creative>', code: 200 },
  { what: 'a nonlinear ad', creatives: '<Creative><NonLinearAds/></Creative>', code: 201 },
  { what: 'required companions', creatives: playable + companions, code: 602 },
])('finds no ad in $what, and returns the code $code', async ({ creatives, attributes, code }) => {
  handlers['/a'] = wrapper('a', '/b')
  handlers['/b'] = `<VAST version="4.2"><Ad ${attributes ?? ''}><InLine>${beacons('b')}
    <Creatives>${creatives}</Creatives></InLine></Ad></VAST>`
  expect(await load('/a')).toEqual({ status: 'none', code, errorUrls: errorPaths('a', 'b') })
})

test('finds no ad that is neither InLine nor Wrapper', async () => {
  handlers['/a'] = '<VAST version="4.2"><Error>/error-a</Error><Ad><Other/></Ad></VAST>'
  expect(await load('/a')).toEqual({ status: 'none', code: 101, errorUrls: errorPaths('a') })
})

test('does not follow a wrapper that requires companions', async () => {
  handlers['/a'] = wrapper('a', '/b').replace('</Creatives>', `${companions}</Creatives>`)
  expect(await load('/a')).toEqual({ status: 'none', code: 602, errorUrls: errorPaths('a') })
  expect(requested).toHaveLength(1)
})

test('reports an unexpected failure as 900', async () => {
  chain(1)
  const parse = vi.spyOn(DOMParser.prototype, 'parseFromString')
  handlers['/2'] = (_request, response) => {
    parse.mockImplementation(() => {
      throw new Error('replaced by an extension')
    })
    response.end(inline('ad'))
  }
  expect(await load('/1')).toEqual({ status: 'none', code: 900, errorUrls: errorPaths('w1') })
  parse.mockRestore()
})

test('fills the macros of consent in the URLs of the chain', async () => {
  const listener = vi.fn<(command: string, version: number, callback: TcfCallback) => void>(
    (command, _version, callback) => {
      if (command !== 'addEventListener') return
      callback({ gdprApplies: true, eventStatus: 'tcloaded', tcString: 'CQ.YA' }, true)
    },
  )
  Object.assign(window, { __tcfapi: listener })
  handlers['/a'] = wrapper('a', '/b?gdpr=${GDPR}&amp;gdpr_consent=${GDPR_CONSENT_7}')
  handlers['/b'] = inline('ad')
  await load('/a?c=[GDPRCONSENT]&r=[REGULATIONS]')
  expect(requested).toEqual(['/a?c=CQ.YA&r=gdpr', '/b?gdpr=1&gdpr_consent=CQ.YA'])
  Reflect.deleteProperty(window, '__tcfapi')
})

test('collects the URLs for verification scripts that are not run', async () => {
  const verifications = (name: string) =>
    `<AdVerifications><Verification><TrackingEvents>
    <Tracking event="verificationNotExecuted">/${name}?[REASON]</Tracking>
    <Tracking event="other">/other</Tracking></TrackingEvents></Verification></AdVerifications>`
  handlers['/a'] = wrapper('a', '/b').replace('</Wrapper>', `${verifications('of-a')}</Wrapper>`)
  handlers['/b'] = inline('ad').replace(
    '</InLine>',
    `<Extensions><Extension type="AdVerifications">${verifications('of-ad')}</Extension>
    </Extensions></InLine>`,
  )
  expect(await load('/a')).toMatchObject({
    ad: { unverifiedUrls: [`${origin}/of-a?[REASON]`, `${origin}/of-ad?[REASON]`] },
  })
})

test('plays the video of an interactive ad', async () => {
  handlers['/vast'] = inline(
    'ad',
    `<InteractiveCreativeFile apiFramework="SIMID">/simid.html</InteractiveCreativeFile>
    <MediaFile type="video/mp4">/ad.mp4</MediaFile>`,
  )
  expect(await load('/vast')).toMatchObject({
    ad: { mediaUrl: `${origin}/ad.mp4`, isInteractive: true },
  })
})

test('has one time limit for a whole slow chain', async () => {
  chain(5)
  for (const path of Object.keys(handlers)) {
    const text = handlers[path]
    handlers[path] = (_request, response) => void setTimeout(() => response.end(text), 100)
  }
  expect(await load('/1', { timeoutMs: 250 })).toMatchObject({ status: 'none', code: 301 })
  expect(requested.length).toBeLessThan(4)
})

test('stops at the time limit if a body never ends', async () => {
  let isClosed = false
  handlers['/vast'] = (_request, response) => {
    response.on('close', () => (isClosed = true))
    response.write('<VAST>')
  }
  expect(await load('/vast', { timeoutMs: 100 })).toMatchObject({ status: 'none', code: 301 })
  await expect.poll(() => isClosed).toBe(true)
})

test('reads at most one mebibyte', async () => {
  let sentBytes = 0
  handlers['/vast'] = (_request, response) => {
    const chunk = Buffer.alloc(65_536, ' ')
    const more = () => {
      while (!response.destroyed && response.write(chunk)) sentBytes += chunk.length
      sentBytes += chunk.length
    }
    response.on('drain', more)
    more()
  }
  expect(await load('/vast')).toMatchObject({ status: 'none', code: 100 })
  expect(sentBytes).toBeLessThan(16 * 1024 * 1024)
})

test('aborts at once when the visitor leaves', async () => {
  let isClosed = false
  handlers['/vast'] = (_request, response) => void response.on('close', () => (isClosed = true))
  const loading = load('/vast')
  await expect.poll(() => requested).toHaveLength(1)
  left.abort()
  await expect(loading).rejects.toThrow('abort')
  await expect.poll(() => isClosed).toBe(true)
})

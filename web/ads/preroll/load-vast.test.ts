// @vitest-environment jsdom
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadVast } from './load-vast.ts'

type Answer = string | ((request: IncomingMessage, response: ServerResponse) => void)

/** What the ad server answers by path; everything else is 404. */
let answers: Record<string, Answer>
let asked: string[]
let server: Server
let origin: string
let left: AbortController

beforeEach(async () => {
  answers = {}
  asked = []
  left = new AbortController()
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('access-control-allow-origin', '*')
    const answer = answers[new URL(request.url ?? '', 'http://ads.example').pathname]
    if (answer === undefined) response.writeHead(404).end('no')
    else if (typeof answer === 'string') response.end(answer)
    else answer(request, response)
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
  { timeoutMs = 5000, canPlay = (type: string) => type === 'video/mp4' } = {},
) {
  return loadVast(origin + path, { signal: left.signal, timeoutMs, canPlay })
}

function inline(
  name: string,
  mediaFiles = `<MediaFile type="video/mp4">/${name}.mp4</MediaFile>`,
): string {
  return `<VAST version="3.0"><Ad><InLine>${beacons(name)}<Creatives><Creative><Linear><Duration>00:00:15</Duration>
    ${tracking(name)}<VideoClicks><ClickTracking>/click-${name}</ClickTracking></VideoClicks>
    <MediaFiles>${mediaFiles}</MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>`
}

function wrapper(name: string, next: string, attributes = ''): string {
  return `<VAST version="3.0"><Ad><Wrapper ${attributes}>${beacons(name)}<VASTAdTagURI>${next}</VASTAdTagURI>
    <Creatives><Creative><Linear>${tracking(name)}<VideoClicks><ClickThrough>https://${name}.example/</ClickThrough></VideoClicks>
    </Linear></Creative></Creatives></Wrapper></Ad></VAST>`
}

function beacons(name: string): string {
  return `<Error>/error-${name}</Error><Impression>/impression-${name}</Impression>`
}

function tracking(name: string): string {
  return `<TrackingEvents><Tracking event="start">/start-${name}</Tracking></TrackingEvents>`
}

/** `/1` leads through so many wrappers to an ad. */
function chain(wrappers: number): void {
  for (let i = 1; i <= wrappers; i++) answers[`/${i}`] = wrapper(`w${i}`, `/${i + 1}`)
  answers[`/${wrappers + 1}`] = inline('ad')
}

function errorPaths(...names: string[]): string[] {
  return names.map((name) => `${origin}/error-${name}`)
}

test('finds the ad with all that is to be told of it', async () => {
  answers['/vast'] = inline('ad')
  expect(await load('/vast')).toEqual({
    status: 'found',
    ad: {
      mediaUrl: `${origin}/ad.mp4`,
      durationSeconds: 15,
      isSkippable: false,
      impressionUrls: [`${origin}/impression-ad`],
      errorUrls: [`${origin}/error-ad`],
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
  expect(asked).toHaveLength(wrappers + 1)
})

test('tells everybody on the way, and leads where the nearest wrapper leads', async () => {
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

test('gives up at the sixth wrapper', async () => {
  chain(6)
  expect(await load('/1')).toEqual({
    status: 'none',
    code: 302,
    errorUrls: errorPaths('w1', 'w2', 'w3', 'w4', 'w5', 'w6'),
  })
  expect(asked).toHaveLength(6)
})

test('gives up where the wrappers lead in a circle', async () => {
  answers['/a'] = wrapper('a', '/b?x=[CACHEBUSTING]')
  answers['/b'] = wrapper('b', '/a')
  expect(await load('/a')).toMatchObject({ code: 302, errorUrls: errorPaths('a', 'b') })
  expect(asked).toHaveLength(2)
})

test('follows no wrapper where the one before forbids it', async () => {
  answers['/a'] = wrapper('a', '/b', 'followAdditionalWrappers="false"')
  answers['/b'] = wrapper('b', '/c')
  expect(await load('/a')).toMatchObject({ status: 'none', code: 303 })
})

test('fills the macros of the address', async () => {
  answers['/vast'] = inline('ad')
  await load('/vast?cb=[CACHEBUSTING]&page=[PAGEURL]&gdpr=[GDPRCONSENT]&own=[mine]')
  const sent = new URL(asked[0] ?? '', origin).searchParams
  expect(sent.get('cb')).toMatch(/^\d{8}$/)
  expect(sent.get('page')).toBe(location.href)
  expect(sent.get('gdpr')).toBe('-1')
  expect(sent.get('own')).toBe('[mine]')
})

test('passes over VPAID and what the browser can not play, and takes the first of the rest', async () => {
  answers['/vast'] = inline(
    'ad',
    `<MediaFile apiFramework="vpaid" type="video/mp4">/vpaid.mp4</MediaFile>
    <MediaFile type="video/x-flv">/a.flv</MediaFile><MediaFile>/untyped</MediaFile><MediaFile type="video/mp4">/late.mp4</MediaFile>`,
  )
  expect(await load('/vast')).toMatchObject({ ad: { mediaUrl: `${origin}/untyped` } })
})

test('keeps the first media file where the browser can play it, however many there are', async () => {
  answers['/vast'] = inline(
    'ad',
    '<MediaFile type="video/mp4">/small.mp4</MediaFile><MediaFile type="video/mp4">/large.mp4</MediaFile>',
  )
  expect(await load('/vast')).toMatchObject({ ad: { mediaUrl: `${origin}/small.mp4` } })
})

test.each([
  '',
  '<MediaFile type="video/mp4"/>',
  '<MediaFile type="video/x-flv">/a.flv</MediaFile>',
])('has no ad where the media files are "%s"', async (mediaFiles) => {
  answers['/vast'] = inline('ad', mediaFiles)
  expect(await load('/vast')).toEqual({ status: 'none', code: 403, errorUrls: errorPaths('ad') })
})

test('tells those who asked where an answer is empty', async () => {
  answers['/vast'] = '<VAST version="3.0"><Error>/error-empty</Error></VAST>'
  expect(await load('/vast')).toEqual({ status: 'none', code: 303, errorUrls: errorPaths('empty') })
})

test('has no ad where a body is empty, or there is none', async () => {
  answers['/vast'] = ' '
  expect(await load('/vast')).toEqual({ status: 'none', code: 303, errorUrls: [] })
  answers['/vast'] = (_request, response) => response.writeHead(204).end()
  expect(await load('/vast')).toEqual({ status: 'none', code: 303, errorUrls: [] })
})

test.each([
  ['is not there', 301, undefined],
  ['is malformed', 100, '<VAST><Ad>'],
  ['is a page', 101, '<html/>'],
  ['is VAST 1', 102, '<VideoAdServingTemplate/>'],
])('tells the wrapper where what it points at %s', async (_what, code, answer) => {
  answers['/a'] = wrapper('a', '/b')
  if (answer) answers['/b'] = answer
  expect(await load('/a')).toEqual({ status: 'none', code, errorUrls: errorPaths('a') })
})

test('has no ad where the server is not there', async () => {
  answers['/a'] = wrapper('a', 'http://127.0.0.1:1/')
  expect(await load('/a')).toMatchObject({ status: 'none', code: 301 })
})

test.each(['ftp://ads.example/', 'javascript:alert(1)', ''])(
  'follows no wrapper to "%s"',
  async (next) => {
    answers['/a'] = wrapper('a', next)
    expect(await load('/a')).toMatchObject({ status: 'none', code: 101 })
  },
)

test('has one time limit for all of a slow chain', async () => {
  chain(5)
  for (const path of Object.keys(answers)) {
    const text = answers[path]
    answers[path] = (_request, response) => void setTimeout(() => response.end(text), 100)
  }
  expect(await load('/1', { timeoutMs: 250 })).toMatchObject({ status: 'none', code: 301 })
  expect(asked.length).toBeLessThan(4)
})

test('waits no longer for a body that never ends', async () => {
  let isClosed = false
  answers['/vast'] = (_request, response) => {
    response.on('close', () => (isClosed = true))
    response.write('<VAST>')
  }
  expect(await load('/vast', { timeoutMs: 100 })).toMatchObject({ status: 'none', code: 301 })
  await expect.poll(() => isClosed).toBe(true)
})

test('reads no more of an answer than a mebibyte', async () => {
  let sentBytes = 0
  answers['/vast'] = (_request, response) => {
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

test('stops at once, and says nothing, for a visitor who leaves', async () => {
  let isClosed = false
  answers['/vast'] = (_request, response) => void response.on('close', () => (isClosed = true))
  const loading = load('/vast')
  await expect.poll(() => asked).toHaveLength(1)
  left.abort()
  await expect(loading).rejects.toThrow('abort')
  await expect.poll(() => isClosed).toBe(true)
})

// The collector over a real socket.
import { request } from 'node:http'
import { connect } from 'node:net'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ActivityEvent, QualityEvent } from '../../../shared/contract.ts'
import { isAppError } from '../../base/errors.ts'
import { ACTIVITY_LIMITS, addActivityRoute } from './activity-route.ts'
import { RateLimiter } from '../../base/admission/rate-limiter.ts'

let app: FastifyInstance
let url: string
let recorded: ActivityEvent[]
let measured: QualityEvent[]
let nowMs: number
let timesLimited: number

beforeEach(() => start({ trustProxy: true, origins: [] }))
afterEach(() => app.close())

async function start({ trustProxy, origins }: { trustProxy: boolean; origins: string[] }) {
  recorded = []
  measured = []
  nowMs = 0
  timesLimited = 0
  app = Fastify({ trustProxy })
  app.setErrorHandler(async (error, _request, reply) =>
    reply.code(isAppError(error, 'invalid') ? 400 : statusOf(error)).send({ error: {} }),
  )
  await addActivityRoute(app, {
    record: (event) => recorded.push(event),
    measure: (event) => measured.push(event),
    limiter: new RateLimiter({ ...ACTIVITY_LIMITS, now: () => nowMs }),
    origins,
    onLimited: () => (timesLimited += 1),
  })
  url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/activity`
}

function statusOf(error: unknown): number {
  const status: unknown = error instanceof Error ? Reflect.get(error, 'statusCode') : undefined
  return typeof status === 'number' ? status : 500
}

const view: ActivityEvent = { name: 'page_view', path: '/', title: 'Streamers' }

const post = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

test('accepts events as JSON and from sendBeacon, with 204 and without a cookie', async () => {
  const answers = [
    await post([view, { name: 'begin_video', streamer: 'a', date: 'd', sessionId: '1' }]),
    await post([view], { 'content-type': 'text/plain;charset=UTF-8' }),
  ]
  for (const answer of answers) {
    expect(answer.status).toBe(204)
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(answer.headers.get('cache-control')).toBe('no-store')
  }
  expect(recorded.map(({ name }) => name)).toEqual(['page_view', 'begin_video', 'page_view'])
})

test('stores only the known fields of an event', async () => {
  await post([{ ...view, userAgent: 'x', __proto__: { a: 1 } }])
  expect(recorded).toEqual([view])
})

test.each([
  ['no JSON', '[{'],
  ['nothing', ''],
  ['no list', view],
  ['another event', [{ name: 'purchase' }]],
  ['a field of another type', [{ ...view, path: 7 }]],
  ['a string that is too long', [{ ...view, path: '/'.repeat(5000) }]],
  [
    'a list that is too long',
    [{ name: 'view_item_list', list: 'streamers', items: many('a', 201) }],
  ],
  ['too many events', many(view, 201)],
  ['one bad event among good ones', [view, { name: 'page_view' }]],
])('refuses %s whole', async (_what, body) => {
  expect((await post(body)).status).toBe(400)
  expect(recorded).toEqual([])
})

test('refuses a body above 64 KiB and other types of content', async () => {
  expect((await post([{ ...view, title: 'x'.repeat(64 * 1024) }])).status).toBe(413)
  expect((await post([view], { 'content-type': 'application/xml' })).status).toBe(415)
  expect(recorded).toEqual([])
})

test.each([{ 'sec-gpc': '1' }, { dnt: '1' }])('counts nothing with %j', async (headers) => {
  expect((await post([view], headers)).status).toBe(204)
  expect(recorded).toEqual([])
  await post([view], { 'sec-gpc': '0', dnt: '0' })
  expect(recorded).toHaveLength(1)
})

test('does not take a visitor’s word for house ads', async () => {
  expect((await post([{ name: 'ad_click', creative: 'x', zone: 'y' }, view])).status).toBe(204)
  expect(recorded).toEqual([view])
})

test('responds with 429 and Retry-After only to an address above the limit', async () => {
  for (let i = 0; i < 120; i += 1) expect((await post([])).status).toBe(204)
  const refused = await post([view])
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(await refused.json()).toMatchObject({ error: { code: 'limited' } })
  expect((await post([view], { 'x-forwarded-for': '192.0.2.7' })).status).toBe(204)
  nowMs = 60_000
  expect((await post([view])).status).toBe(204)
  expect(recorded).toHaveLength(2)
  expect(timesLimited).toBe(1)
})

test('refuses who calls too often before reading the body', async () => {
  for (let i = 0; i < 120; i += 1) await post([])
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(
    'POST /api/activity HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 60000\r\n\r\n',
  )
  const [head] = await new Promise<string[]>((resolve) =>
    socket.once('data', (data) => resolve(data.toString().split('\r\n'))),
  )
  socket.destroy()
  expect(head).toBe('HTTP/1.1 429 Too Many Requests')
})

describe('the origin of the page', () => {
  const ask = async (headers: Record<string, string>): Promise<number> => {
    const options = { method: 'POST', headers: { 'content-type': 'text/plain', ...headers } }
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const asking = request(url, options, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asking.on('error', reject).end(JSON.stringify([view]))
    return promise
  }
  const cdn = { 'x-forwarded-host': 'site.example', 'x-forwarded-proto': 'https' }
  const throughCdn = { host: 'origin.internal', ...cdn }

  test.each([
    ['none', { host: 'site.example' }],
    ['this one', { host: 'site.example:8080', origin: 'http://site.example:8080' }],
    ['this one, with its default port', { host: 'site.example:80', origin: 'http://site.example' }],
    ['this one after a TLS proxy', { host: 'site.example', origin: 'https://site.example' }],
    ['this one after a trusted proxy', { ...throughCdn, origin: 'https://site.example' }],
    ['this one by the browser', { origin: 'https://a.example', 'sec-fetch-site': 'same-origin' }],
  ])('may be %s', async (_what, headers) => {
    expect(await ask(headers)).toBe(204)
    expect(recorded).toEqual([view])
  })

  test.each([
    ['another one', { host: 'site.example', origin: 'https://other.example' }],
    ['opaque', { host: 'site.example', origin: 'null' }],
    ['malformed', { host: 'site.example', origin: 'site.example' }],
    ['on another port', { host: 'site.example', origin: 'http://site.example:8080' }],
    ['an extension of the name', { host: 'site.example', origin: 'https://site.example.evil' }],
    ['without TLS', { ...throughCdn, origin: 'http://site.example' }],
    ['the one inside of the proxy', { ...throughCdn, origin: 'http://origin.internal' }],
    ['another site', { origin: 'https://other.example', 'sec-fetch-site': 'cross-site' }],
  ])('is refused if it is %s', async (_what, headers) => {
    expect(await ask(headers)).toBe(403)
    expect(recorded).toEqual([])
  })

  test('is not judged by the headers of a proxy that is not trusted', async () => {
    await app.close()
    await start({ trustProxy: false, origins: [] })
    expect(await ask({ ...throughCdn, origin: 'https://site.example' })).toBe(403)
    expect(await ask({ ...throughCdn, origin: 'https://origin.internal' })).toBe(204)
  })

  test.each([['https://shop.example'], ['*']])('may be the allowed %s', async (origin) => {
    await app.close()
    await start({ trustProxy: false, origins: [origin] })
    expect(await ask({ origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' })).toBe(204)
  })

  test('is checked before the limit: other sites cannot use it up', async () => {
    for (let i = 0; i < 150; i += 1) {
      expect(await ask({ origin: 'https://other.example' })).toBe(403)
    }
    expect(await ask({})).toBe(204)
    const refused = await post([view], { origin: 'https://other.example' })
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect(await refused.json()).toMatchObject({ error: { code: 'forbidden' } })
  })
})

function many<T>(value: T, count: number): T[] {
  return Array.from({ length: count }, () => value)
}

test('passes reports of players on to the metrics, and records none of them', async () => {
  const report = {
    name: 'playback',
    startupSeconds: 0.4,
    abandonedStarts: 0,
    playedSeconds: 12,
    stalls: 1,
    stalledSeconds: 0.5,
    networkErrors: 2,
    mediaErrors: 0,
    otherErrors: 0,
  }
  const failed = { name: 'vast_error', code: 303 }
  expect((await post([report, view, failed])).status).toBe(204)
  expect(measured).toEqual([report, failed])
  expect(recorded).toEqual([view])
  expect((await post([{ ...report, stalls: -1 }])).status).toBe(400)
  expect((await post([failed], { 'sec-gpc': '1' })).status).toBe(204)
  expect(measured).toHaveLength(2)
})

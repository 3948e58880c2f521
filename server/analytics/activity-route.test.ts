// The collector over a real socket.
import { connect } from 'node:net'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ActivityEvent } from '../../shared/contract.ts'
import { isAppError } from '../errors.ts'
import { addActivityRoute } from './activity-route.ts'
import { ACTIVITY_LIMITS, RateLimiter } from './rate-limiter.ts'

let app: FastifyInstance
let url: string
let recorded: ActivityEvent[]
let nowMs: number
let timesLimited: number

beforeEach(async () => {
  recorded = []
  nowMs = 0
  timesLimited = 0
  app = Fastify({ trustProxy: true })
  app.setErrorHandler(async (error, _request, reply) =>
    reply.code(isAppError(error, 'invalid') ? 400 : statusOf(error)).send({ error: {} }),
  )
  await addActivityRoute(app, {
    record: (event) => recorded.push(event),
    limiter: new RateLimiter({ ...ACTIVITY_LIMITS, now: () => nowMs }),
    onLimited: () => (timesLimited += 1),
  })
  url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/activity`
})
afterEach(() => app.close())

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

function many<T>(value: T, count: number): T[] {
  return Array.from({ length: count }, () => value)
}

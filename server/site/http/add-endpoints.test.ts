import { connect } from 'node:net'
import { once } from 'node:events'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Gate } from '../../base/admission/gate.ts'
import { AppError } from '../../base/errors.ts'
import { addClients, admitAll, admitted } from './add-endpoints.ts'
import { sendError } from './responses/errors.ts'
import { sendStream } from './responses/stream-response.ts'
import { soon } from '../../../test/support/patience.ts'

let app: FastifyInstance
let gate: Gate
let origin: string
/** Ends the requests of /work, in order. */
let waiting: (() => void)[]
let signals: AbortSignal[]

beforeEach(async () => {
  gate = new Gate({ limit: 1, waiting: 1, busyMessage: 'too many' })
  waiting = []
  signals = []
  app = Fastify({ trustProxy: true })
  addClients(app)
  app.setErrorHandler(sendError)
  app.get(
    '/work',
    admitted(gate, async (_request, _reply, signal) => {
      signals.push(signal)
      await new Promise<void>((resolve) => waiting.push(resolve))
      signal.throwIfAborted()
      return 'done'
    }),
  )
  await app.register(async (scope) => {
    admitAll(scope, gate)
    scope.get('/file', async () => 'file')
  })
  origin = await app.listen({ port: 0, host: '127.0.0.1' })
})

afterEach(() => app.close())

it('refuses what cannot wait with 503, Retry-After and no-store', async () => {
  const first = fetch(`${origin}/work`)
  await vi.waitFor(() => expect(waiting).toHaveLength(1), soon)
  const second = fetch(`${origin}/work`)
  await vi.waitFor(() => expect(gate.figures.waiting).toBe(1), soon)
  for (const path of ['/work', '/file']) {
    const refused = await fetch(origin + path)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('cache-control')).toBe('no-store')
  }
  waiting[0]?.()
  expect(await (await first).text()).toBe('done')
  await vi.waitFor(() => expect(waiting).toHaveLength(2), soon)
  waiting[1]?.()
  expect(await (await second).text()).toBe('done')
  expect(await (await fetch(`${origin}/file`)).text()).toBe('file')
  await vi.waitFor(
    () => expect(gate.figures).toMatchObject({ used: 0, admitted: 3, refused: 2 }),
    soon,
  )
})

it('refuses a range before its first byte without headers of the bytes', async () => {
  const head = { contentType: 'video/mp2t', cacheControl: 'public, immutable', headers: {} }
  const send = async (): Promise<never> => {
    throw new AppError('busy', 'too many')
  }
  const body = { kind: 'stream', sizeBytes: 8, etag: '"a"', send } as const
  const other = Fastify()
  other.setErrorHandler(sendError)
  other.get('/bytes', async (request, reply) => sendStream(request, reply, { head, body }))
  const refused = await other.inject({ url: '/bytes', headers: { range: 'bytes=0-3' } })
  expect(refused.statusCode).toBe(503)
  expect(refused.json()).toMatchObject({ error: { code: 'busy' } })
  expect(refused.headers).toMatchObject({
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
  })
  for (const name of ['etag', 'accept-ranges', 'content-range'])
    expect(refused.headers).not.toHaveProperty(name)
})

it('releases abandoned requests at once', async () => {
  const clients = [0, 1].map(() => connect(Number(new URL(origin).port), '127.0.0.1'))
  const [first, second] = clients
  first?.write('GET /work HTTP/1.1\r\nHost: here\r\n\r\n')
  await vi.waitFor(() => expect(waiting).toHaveLength(1), soon)
  second?.write('GET /work HTTP/1.1\r\nHost: here\r\n\r\n')
  await vi.waitFor(() => expect(gate.figures.waiting).toBe(1), soon)
  second?.destroy()
  await vi.waitFor(() => expect(gate.figures.waiting).toBe(0), soon)
  const aborted = once(signals[0] ?? new AbortController().signal, 'abort')
  first?.destroy()
  await aborted
  waiting[0]?.()
  await vi.waitFor(() => expect(gate.figures.used).toBe(0), soon)
  expect(waiting).toHaveLength(1)
})

it('admits the requests of all networks in turn, whoever has more', async () => {
  const order: string[] = []
  const queue = new Gate({ limit: 1, waiting: 3, busyMessage: 'too many' })
  const other = Fastify({ trustProxy: true })
  addClients(other)
  other.setErrorHandler(sendError)
  other.get(
    '/:name',
    admitted(queue, async ({ url }) => {
      order.push(url)
      return 'done'
    }),
  )
  const release = await queue.enter(new AbortController().signal)
  const send = async (name: string, address: string) =>
    other.inject({ url: `/${name}`, headers: { 'x-forwarded-for': address } })
  // The second is in the same IPv6 network of 64 bits as the first.
  const sent = [send('1', '2001:db8::1'), send('2', '2001:db8::2'), send('3', '2001:db8::3')]
  await vi.waitFor(() => expect(queue.figures.waiting).toBe(3), soon)
  sent.push(send('4', '192.0.2.1'))
  const refused = await Promise.race(sent)
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
  release()
  const statuses = (await Promise.all(sent)).map(({ statusCode }) => statusCode)
  expect(statuses).toEqual([200, 200, 503, 200])
  expect(order).toEqual(['/1', '/4', '/2'])
  await other.close()
})

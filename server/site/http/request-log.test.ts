// Request log lines and the Server-Timing header, over real sockets.
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { sendBody } from '../../stream/delivery/send-body.ts'
import { soon } from '../../../test/support/patience.ts'
import { addRequestKind } from './responses/request-kind.ts'
import { logRequests } from './request-log.ts'
import { addServerTiming, recordPhases, startPhase } from './responses/server-timing.ts'
import { sendText, TextResponse } from './responses/text-response.ts'

const started: FastifyInstance[] = []
/** Resolves once the client of `/segment` has the first byte. */
let firstByte = Promise.withResolvers<void>()
const text = new TextResponse('hello', { contentType: 'text/plain', cacheControl: '', headers: {} })

afterEach(async () => {
  await Promise.all(started.splice(0).map((app) => app.close()))
})

interface Setting {
  requests?: boolean
  slowMs?: number
  timing?: 'on' | 'off'
}

/** A server, its URL, and the parsed lines of its log. */
async function start({ requests = false, slowMs = 1000, timing = 'off' }: Setting) {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
  const app = Fastify()
  started.push(app)
  addRequestKind(app)
  recordPhases(app)
  app.decorateRequest('served', undefined)
  app.decorateReply('firstByteAtMs', undefined)
  if (timing === 'on') addServerTiming(app)
  logRequests(app, { logger, requests, slowMs })
  app.get('/plain', async () => 'plain')
  app.get('/text', (request, reply) => {
    startPhase(request, 'open')()
    return sendText(request, reply, text)
  })
  app.get('/transcoded', async (request) => {
    startPhase(request, 'open')()
    startPhase(request, 'file')
    request.served = { transcoded: true, cache: 'miss' }
    return 'bytes'
  })
  app.get('/segment', async (request, reply) => {
    request.kind = 'segment'
    firstByte = Promise.withResolvers()
    const second = firstByte.promise.then(() => Buffer.from('b'))
    const chunks = [Buffer.from('a'), second, undefined]
    await sendBody(reply, { next: () => chunks.shift() })
  })
  app.get('/busy', async (request, reply) => {
    request.kind = 'segment'
    return reply.code(503).send('busy')
  })
  app.get('/endless', async (request, reply) => {
    request.kind = 'segment'
    const chunks = [Buffer.from('a'), new Promise<Buffer>(() => undefined)]
    await sendBody(reply, { next: () => chunks.shift() })
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const get = async (path: string): Promise<Response> => {
    const response = await fetch(url + path)
    await response.arrayBuffer()
    return response
  }
  return { url, get, lines, closed: async () => app.close() }
}

test('logs nothing by default', async () => {
  const { get, lines, closed } = await start({ slowMs: 60_000 })
  await get('/plain')
  await closed()
  expect(lines).toEqual([])
})

test('logs one line per request, whichever way it is sent', async () => {
  const { get, lines, closed } = await start({ requests: true, slowMs: 60_000 })
  await get('/plain?a=1')
  await get('/text')
  await get('/missing')
  await closed()
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatchObject({ level: 30, method: 'GET', url: '/plain?a=1', status: 200 })
  expect(lines[1]).toMatchObject({ url: '/text', status: 200, kind: 'other' })
  expect(lines[2]).toMatchObject({ url: '/missing', status: 404 })
  for (const { ms } of lines) expect(ms).toEqual(expect.any(Number))
})

test('logs a slow request as a warning, also without the log of requests', async () => {
  const { get, lines, closed } = await start({ slowMs: 0 })
  await get('/text')
  await closed()
  expect(lines).toEqual([expect.objectContaining({ level: 40, url: '/text', status: 200 })])
})

test('logs why a request was slow: its phases, the cache, and transcoding', async () => {
  const { get, lines, closed } = await start({ slowMs: 0 })
  await get('/text')
  await get('/transcoded')
  await closed()
  expect(lines[0]).toMatchObject({ phases: { open: expect.any(Number) } })
  // A phase that did not end is the one that took long.
  const phases = { open: expect.any(Number), file: expect.any(Number) }
  expect(lines[1]).toMatchObject({ phases, transcoded: true, cache: 'miss' })
})

test('judges a segment by its first byte, because clients may be slow', async () => {
  const transferMs = 3_600_000
  const { url, lines, closed } = await start({ requests: true, slowMs: transferMs })
  const reader = (await fetch(`${url}/segment`)).body?.getReader()
  await reader?.read()
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + transferMs)
  firstByte.resolve()
  expect((await reader?.read())?.value).toEqual(new Uint8Array(Buffer.from('b')))
  await closed()
  vi.restoreAllMocks()
  expect(lines).toEqual([expect.objectContaining({ level: 30, kind: 'segment' })])
  const { ms, firstByteMs } = lines[0] ?? {}
  expect(Number(ms) - Number(firstByteMs)).toBeGreaterThanOrEqual(transferMs)
})

test('logs an aborted download', async () => {
  const { url, lines } = await start({ requests: true, slowMs: 60_000 })
  const controller = new AbortController()
  const response = await fetch(`${url}/endless`, { signal: controller.signal })
  await response.body?.getReader().read()
  controller.abort()
  await vi.waitFor(() => expect(lines).toHaveLength(1), soon)
  expect(lines[0]).toMatchObject({ kind: 'segment', aborted: true })
})

test('judges a segment without a body by its whole time', async () => {
  const { get, lines, closed } = await start({ slowMs: 0 })
  await get('/busy')
  await closed()
  expect(lines).toEqual([expect.objectContaining({ level: 40, kind: 'segment', status: 503 })])
})

test('sends Server-Timing with all phases only if it is added', async () => {
  const off = await start({})
  expect((await off.get('/text')).headers.get('server-timing')).toBeNull()
  const on = await start({ timing: 'on' })
  const timing = (await on.get('/text')).headers.get('server-timing')
  expect(timing).toMatch(/^open;dur=[\d.]+, total;dur=[\d.]+$/)
  expect((await on.get('/plain')).headers.get('server-timing')).toMatch(/^total;dur=[\d.]+$/)
})

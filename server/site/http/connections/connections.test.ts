import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createConnectionServer } from './connections.ts'
import { soon } from '../../../../test/support/patience.ts'

/** Requests that have started, in order. */
let started: { path: string; response: ServerResponse }[]
/** Requests that Node has parsed. */
let parsed: number
let server: Server
let client: Socket

async function listen(stalledMs?: number): Promise<void> {
  server = createConnectionServer((request, response) => {
    started.push({ path: request.url ?? '', response })
  }, stalledMs)
  server.on('request', () => (parsed += 1))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}

beforeEach(() => {
  started = []
  parsed = 0
})

afterEach(() => {
  client.destroy()
  server.closeAllConnections()
  server.close()
})

async function open(): Promise<Socket> {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no address')
  client = connect(address.port, '127.0.0.1')
  await once(client, 'connect')
  return client
}

function head(path: string, ...headers: string[]): string {
  return [`GET /${path} HTTP/1.1`, 'Host: here', ...headers, '', ''].join('\r\n')
}

/** `count` requests, the last of which closes the connection. */
function heads(count: number): string {
  const paths = Array.from({ length: count - 1 }, (_, number) => head(`${number}`))
  return [...paths, head(`${count - 1}`, 'Connection: close')].join('')
}

/** Answers each started request with its path, as it starts. */
async function answerAll(count: number): Promise<void> {
  for (let answered = 0; answered < count; answered += 1) {
    await vi.waitFor(() => expect(started.length).toBeGreaterThan(answered), {
      ...soon,
      interval: 1,
    })
    started[answered]?.response.end(`<${started[answered]?.path}>`)
  }
}

describe('pipelined requests', () => {
  it('start one by one, and wait unparsed beyond eight', async () => {
    await listen()
    const socket = await open()
    socket.write(heads(500))
    await vi.waitFor(() => expect(started).toHaveLength(1), soon)
    for (let i = 0; i < 20; i += 1) await turn()
    expect(started).toHaveLength(1)
    expect(parsed).toBeLessThanOrEqual(8)
    const received = text(socket)
    let most = 0
    server.on('request', () => (most = Math.max(most, parsed - started.length + 1)))
    await answerAll(500)
    const bodies = (await received).match(/<\/\d+>/g)
    expect(bodies).toEqual(Array.from({ length: 500 }, (_, number) => `</${number}>`))
    expect(started).toHaveLength(500)
    expect(most).toBeLessThanOrEqual(8)
  })

  it('wait for a response that a slow client reads', async () => {
    await listen()
    const socket = await open()
    socket.pause()
    socket.write(heads(30))
    await vi.waitFor(() => expect(started).toHaveLength(1), soon)
    const large = Buffer.alloc(8 * 1024 * 1024, 'x')
    for (let answered = 0; answered < 30; answered += 1) {
      await vi.waitFor(() => expect(started.length).toBe(answered + 1), { ...soon, interval: 1 })
      const { response } = started[answered] ?? {}
      response?.write(large)
      await turn()
      expect(started.length).toBe(answered + 1)
      response?.end('end')
      if (answered === 0) socket.resume()
    }
    expect(parsed).toBe(30)
  })

  it('may have bodies, and arrive in any division', async () => {
    await listen()
    const socket = await open()
    const post = 'POST /a HTTP/1.1\r\nHost: here\r\nContent-Length: 8\r\n\r\n\r\n\r\nbody'
    const chunked =
      'POST /b HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n'
    const bytes = [head('0'), post, chunked, head('c', 'Expect: a-miracle'), heads(9)].join('')
    const received = text(socket)
    for (const byte of bytes.slice(0, 400)) {
      socket.write(byte)
      await turn()
    }
    socket.write(bytes.slice(400))
    await answerAll(13)
    const paths = ['0', 'a', 'b', 'c', ...Array.from({ length: 9 }, (_, number) => `${number}`)]
    expect((await received).match(/<[^>]*>/g)).toEqual(paths.map((path) => `</${path}>`))
  })

  it('never start if the client disconnects', async () => {
    await listen()
    const socket = await open()
    socket.write(heads(5))
    await vi.waitFor(() => expect(parsed).toBe(5), soon)
    const [first] = started
    const closed = once(first?.response ?? socket, 'close')
    socket.destroy()
    await closed
    await turn()
    expect(started).toHaveLength(1)
  })

  it('that are malformed add no bytes to the response before them', async () => {
    await listen()
    const socket = await open()
    const received = text(socket).catch(() => 'reset')
    socket.write(head('0'))
    await vi.waitFor(() => expect(started).toHaveLength(1), soon)
    started[0]?.response.writeHead(200, { 'content-length': 1000 }).write('begun')
    socket.write('nonsense\r\n\r\n')
    expect(await received).not.toContain('400')
  })
})

it('answers a malformed request, and disconnects', async () => {
  await listen()
  const socket = await open()
  socket.write('nonsense\r\n\r\n'.repeat(10))
  expect(await text(socket)).toMatch(/^HTTP\/1.1 400 Bad Request\r\n[^]*"invalid"/)
})

it('disconnects although the client keeps the connection open', async () => {
  await listen()
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no address')
  client = connect({ port: address.port, host: '127.0.0.1', allowHalfOpen: true })
  client.resume().write('nonsense\r\n\r\n')
  const [socket] = (await once(server, 'connection')) as [Socket]
  await once(socket, 'close')
  expect(client.writable).toBe(true)
})

describe('a client', () => {
  const LIMIT_MS = 60_000
  const CHECK_MS = LIMIT_MS / 4
  const BODY = Buffer.alloc(32 * 1024 * 1024)

  // Only the checks: Node's own timers are not those of the tests.
  beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
  afterEach(() => vi.useRealTimers())

  interface Exchange {
    socket: Socket
    /** The server's side of the connection. */
    connection: Socket
    response: ServerResponse
  }

  /** A request without its response, of a client that reads nothing. */
  async function request(): Promise<Exchange> {
    await listen(LIMIT_MS)
    const requested = once(server, 'request')
    const socket = await open()
    socket.pause()
    socket.write(head('0'))
    await requested
    const { response } = started[0] ?? {}
    if (!response?.socket) throw new Error('no connection')
    return { socket, connection: response.socket, response }
  }

  function queuedBytes(connection: Socket): unknown {
    const handle: unknown = Reflect.get(connection, '_handle')
    return typeof handle === 'object' && handle && Reflect.get(handle, 'writeQueueSize')
  }

  it('that stalls within one large write is disconnected at the fourth check', async () => {
    const { connection, response } = await request()
    response.end(BODY)
    let before: unknown
    let unchangedChecks = 0
    for (let checks = 0; checks < 1000 && !connection.destroyed; checks += 1) {
      await turn()
      const queued = queuedBytes(connection)
      unchangedChecks = queued === before ? unchangedChecks + 1 : 0
      before = queued
      vi.advanceTimersByTime(CHECK_MS)
    }
    expect([connection.destroyed, unchangedChecks]).toEqual([true, 4])
  })

  it('that reads slowly is not disconnected', async () => {
    const { socket, connection, response } = await request()
    response.end(BODY)
    let rounds = 0
    for (; !response.writableFinished; rounds += 1) {
      const before = queuedBytes(connection)
      while (queuedBytes(connection) === before && !response.writableFinished) {
        await turn()
        socket.read()
      }
      vi.advanceTimersByTime(LIMIT_MS)
      expect(connection.destroyed).toBe(false)
    }
    expect(rounds).toBeGreaterThan(3)
  })

  it('that waits for a slow response, or sends no request, is not disconnected', async () => {
    const { socket, connection, response } = await request()
    const received = text(socket)
    vi.advanceTimersByTime(100 * LIMIT_MS)
    expect(connection.destroyed).toBe(false)
    response.end('<late>')
    await once(response, 'close')
    vi.advanceTimersByTime(100 * LIMIT_MS)
    expect(connection.destroyed).toBe(false)
    const requested = once(server, 'request')
    socket.write(head('1', 'Connection: close'))
    await requested
    started[1]?.response.end('<last>')
    expect((await received).match(/<\w+>/g)).toEqual(['<late>', '<last>'])
  })
})

it('disconnects a client that accepts no byte of any response', async () => {
  await listen(300)
  const socket = await open()
  socket.pause()
  socket.write(head('0'))
  await vi.waitFor(() => expect(started).toHaveLength(1), soon)
  const { response } = started[0] ?? {}
  const closed = once(response ?? socket, 'close')
  response?.end(Buffer.alloc(32 * 1024 * 1024))
  await closed
  expect(response?.writableFinished).toBe(false)
})

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import type { Server as TcpServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { patienceMs, soon } from '../../../../test/support/patience.ts'
import { TEST_CERTIFICATE, TEST_KEY } from '../../../../test/support/servers/test-certificate.ts'
import { ConnectionPool } from './connection-pool.ts'
import { sendGet } from './http-get.ts'
import type { ObjectBody, ObjectResponse } from './object-body.ts'
import type { StoreAddress } from './store-connection.ts'

const CONTENT = randomBytes(3 * 1024 * 1024 + 5)

let server: TcpServer | undefined
let connections: number
const pool = new ConnectionPool({ maxConnections: 20, connectTimeoutMs: patienceMs })

beforeAll(() => setDefaultCACertificates([...getCACertificates('default'), TEST_CERTIFICATE]))

afterEach(async () => {
  pool.closeIdle()
  server?.close()
  if (server) await once(server, 'close')
  server = undefined
})

async function listen(started: TcpServer, isSecure: boolean): Promise<StoreAddress> {
  server = started
  connections = 0
  started.on(isSecure ? 'secureConnection' : 'connection', () => (connections += 1))
  started.listen(0, '127.0.0.1')
  await once(started, 'listening')
  const address = started.address()
  if (typeof address !== 'object' || address === null) throw new Error('there is no port')
  return { isSecure, host: 'localhost', port: address.port }
}

async function get(address: StoreAddress, headers = {}, from = pool): Promise<ObjectResponse> {
  const connection = from.take(address)
  if (connection === undefined) throw new Error('there is no connection')
  const request = { path: '/a?b=c', headers: { host: 'localhost', ...headers } }
  return sendGet(connection, request, () => from.give(address, connection))
}

/** Reads the body, with other work between the chunks, during which more bytes arrive. */
async function readSlowly(body: ObjectBody): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (let bytes = await body.next(); bytes !== undefined; bytes = await body.next()) {
    if (chunks.length % 3 === 0) for (let i = 0; i < 5; i += 1) await turn()
    chunks.push(Buffer.from(bytes))
  }
  return Buffer.concat(chunks)
}

describe.each(['http', 'https'] as const)('a GET by %s', (scheme) => {
  const isSecure = scheme === 'https'
  const start = async (respond: RequestListener): Promise<StoreAddress> => {
    const started: Server = isSecure
      ? createSecureServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, respond)
      : createServer(respond)
    return listen(started, isSecure)
  }

  test('has the bytes of the body, one after another on one connection', async () => {
    const ranges: (string | undefined)[] = []
    const address = await start((request, response) => {
      ranges.push(request.headers.range)
      response.writeHead(206, {
        'Content-Length': CONTENT.length,
        'Content-Range': 'bytes 5-6/7',
        ETag: '"tag"',
      })
      response.end(CONTENT)
    })
    for (const range of ['bytes=1-', 'bytes=2-', 'bytes=3-']) {
      const { body, ...head } = await get(address, { range })
      expect(head).toEqual({
        status: 206,
        contentLength: CONTENT.length,
        contentRange: 'bytes 5-6/7',
        etag: '"tag"',
      })
      expect(CONTENT.equals(await readSlowly(body))).toBe(true)
      expect(await body.next()).toBeUndefined()
      // Without effect: the connection is not the body's any more.
      body.destroy()
    }
    expect(ranges).toEqual(['bytes=1-', 'bytes=2-', 'bytes=3-'])
    expect(connections).toBe(1)
  })

  test('rejects if the body ends early or is destroyed', async () => {
    const address = await start((_, response) => {
      response.writeHead(200, { 'content-length': 1000 })
      response.write(CONTENT.subarray(0, 10))
      if (connections === 1) setImmediate(() => response.destroy())
    })
    const { body } = await get(address)
    await expect(readSlowly(body)).rejects.toThrow('closed')
    const { body: stalled } = await get(address)
    expect(await stalled.next()).toHaveLength(10)
    const pending = stalled.next()
    stalled.destroy()
    await expect(pending).rejects.toThrow('closed')
  })

  test('uses no connection that the server has closed', async () => {
    let closed = 0
    const address = await start(({ socket }, response) => {
      response.writeHead(200, { 'content-length': 2 }).end('ok')
      socket.once('close', () => (closed += 1))
      if (connections === 1) response.once('finish', () => socket.end())
    })
    const { body: first } = await get(address)
    expect((await readSlowly(first)).toString()).toBe('ok')
    await expect.poll(() => closed, soon).toBe(1)
    const { body: second } = await get(address)
    expect((await readSlowly(second)).toString()).toBe('ok')
    expect(connections).toBe(2)
  })
})

test.each([
  [
    'a coding',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    'no length',
  ],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok',
    'no length',
  ],
  [
    'a length and a coding',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: gzip\r\n\r\nok',
    'no length',
  ],
  ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok', 'no length'],
  ['another version', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 'version'],
  ['an interim status', 'HTTP/1.1 100 Continue\r\n\r\n', 'version'],
  ['a folded header', 'HTTP/1.1 200 OK\r\n folded\r\n\r\n', 'header'],
  ['an endless head', `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(20_000)}`, 'too long'],
  ['another protocol', '220 smtp.example.org ESMTP\r\n\r\n', 'version'],
])('refuses a response with %s', async (_, text, message) => {
  const address = await listenAndSend(text)
  await expect(get(address)).rejects.toThrow(message)
})

test('refuses bytes after the end of a body', async () => {
  const address = await listenAndSend('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokay')
  const { body } = await get(address)
  await expect(body.next()).rejects.toThrow('longer')
})

async function listenAndSend(response: string): Promise<StoreAddress> {
  const started = createTcpServer((socket) => {
    socket.on('error', () => undefined).resume()
    socket.write(response, 'latin1')
  })
  return listen(started, false)
}

test('refuses a header that would begin another line', async () => {
  const address = await listen(
    createServer(() => undefined),
    false,
  )
  await expect(get(address, { 'if-match': '"a"\r\nX: y' })).rejects.toThrow('invalid')
})

test('has at most as many connections as its pool', async () => {
  const address = await listen(
    createServer((_, response) => response.writeHead(200, { 'content-length': 2 }).flushHeaders()),
    false,
  )
  const two = new ConnectionPool({ maxConnections: 2, connectTimeoutMs: patienceMs })
  const responses = await Promise.all([get(address, {}, two), get(address, {}, two)])
  expect(two.take(address)).toBeUndefined()
  for (const { body } of responses) body.destroy()
  const next = await vi.waitFor(() => {
    const connection = two.take(address)
    if (connection === undefined) throw new Error('the others are not closed yet')
    return connection
  }, soon)
  next.close()
})

import { once } from 'node:events'
import { truncateSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { platform } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { soon } from '../../../test/support/patience.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { BufferPool, BufferLease } from './buffer-pool.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'
import { windowChunks } from './chunk-transforms.ts'
import { readBody } from './read-body.ts'
import { segmentBody } from './segment-body.ts'
import type { Part } from '../../media/media-reader.ts'
import { FolderStorage } from '../../storage/recordings/folder/folder-storage.ts'
import { loadPageCache } from '../../storage/recordings/page-cache.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { sendBody } from './send-body.ts'

const CHUNK = Buffer.alloc(256 * 1024, 7)

let app: FastifyInstance
let source: ChunkSource
/** Whether the route's handler has finished. */
let isSettled: boolean
let maxChunkMs: number | undefined
/** Content-Length of the response; 0 for none. */
let announcedBytes: number

beforeEach(() => {
  isSettled = false
  maxChunkMs = undefined
  announcedBytes = 0
  app = Fastify()
  app.get('/', async (_, reply) => {
    void reply.header('content-type', 'video/mp2t')
    if (announcedBytes > 0) void reply.header('content-length', announcedBytes)
    await sendBody(reply, source, maxChunkMs)
    isSettled = true
    return reply
  })
  app.get('/other', async () => 'here')
})

afterEach(() => app.close())

async function listen(): Promise<string> {
  return app.listen({ port: 0, host: '127.0.0.1' })
}

/** `count` chunks, each passed through `give`. */
function chunks(count: number, give: (chunk: Buffer) => Chunk | Promise<Chunk>): ChunkSource {
  let left = count
  return { next: () => (left-- > 0 ? give(CHUNK) : undefined) }
}

/** A client that sends a request and reads nothing. */
async function sendRequest(origin: string): Promise<Socket> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
  return socket
}

/** A client that pauses between reads. */
async function fetchSlowly(url: string, agent: Agent): Promise<Buffer> {
  const sent = request(url, { agent }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) {
    chunks.push(chunk as Buffer)
    if (chunks.length % 50 === 0) await sleep(5)
  }
  return Buffer.concat(chunks)
}

it.each([
  ['synchronously', (chunk: Buffer): Chunk => chunk],
  ['later', async (chunk: Buffer): Promise<Chunk> => sleep(1, chunk)],
])('sends all chunks in order if they come %s', async (_, give) => {
  source = chunks(20, give)
  const response = await fetch(await listen())
  const body = Buffer.from(await response.arrayBuffer())
  expect(body.equals(Buffer.concat(Array.from({ length: 20 }, () => CHUNK)))).toBe(true)
  expect(isSettled).toBe(true)
})

it('responds to an error before the first byte, and disconnects at a later one', async () => {
  const origin = await listen()
  const broken = async (): Promise<Chunk> => Promise.reject(new Error('the disk has failed'))
  source = chunks(1, broken)
  expect((await fetch(origin)).status).toBe(500)
  let given = 0
  source = chunks(3, (chunk) => (++given < 2 ? chunk : broken()))
  await expect(fetch(origin).then(async (response) => response.arrayBuffer())).rejects.toThrow(
    'terminated',
  )
  given = 0
  source = chunks(3, (chunk) => {
    if (++given < 2) return chunk
    throw new Error('the disk has failed')
  })
  await expect(fetch(origin).then(async (response) => response.arrayBuffer())).rejects.toThrow(
    'terminated',
  )
})

it('waits for a pending read although the client has disconnected', async () => {
  const { promise, resolve } = Promise.withResolvers<Chunk>()
  let given = 0
  source = chunks(3, (chunk) => (++given < 2 ? chunk : promise))
  const socket = await sendRequest(await listen())
  await once(socket, 'data')
  socket.destroy()
  await sleep(100)
  expect(given).toBe(2)
  expect(isSettled).toBe(false)
  resolve(CHUNK)
  await expect.poll(() => isSettled).toBe(true)
  expect(given).toBe(2)
})

describe('a client', () => {
  const limitMs = 60_000
  const often = { ...soon, interval: 5 }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    maxChunkMs = limitMs
  })
  afterEach(() => vi.useRealTimers())

  it('that reads nothing is disconnected', async () => {
    source = chunks(100, (chunk) => chunk)
    const still = await sendRequest(await listen())
    await expect.poll(() => vi.getTimerCount(), often).toBe(1)
    vi.advanceTimersByTime(limitMs)
    await expect.poll(() => isSettled, often).toBe(true)
    still.destroy()
  })

  it('that is slow gets all chunks', async () => {
    let given = 0
    source = chunks(100, (chunk) => {
      given += 1
      return chunk
    })
    const slow = await sendRequest(await listen())
    let received = 0
    const read = (): number => (received += (slow.read() as Buffer | null)?.length ?? 0)
    // A chunk may be given a step after the one before it was written.
    const stepMs = limitMs / 4
    let elapsedMs = 0
    for (let before = 0; !isSettled; before = given) {
      const hasProgressed = (): boolean => read() >= 0 && (given > before || isSettled)
      await expect.poll(hasProgressed, often).toBe(true)
      vi.advanceTimersByTime(stepMs)
      elapsedMs += stepMs
    }
    expect(elapsedMs).toBeGreaterThan(2 * limitMs)
    await expect.poll(read, often).toBeGreaterThan(100 * CHUNK.length)
    slow.destroy()
  })
})

describe.runIf(platform() === 'linux')('from a file in the page cache', () => {
  const parts: Part[] = [
    { kind: 'bytes', bytes: Buffer.from('head') },
    { kind: 'range', offset: 1000, length: 20_000_000 },
  ]
  const bytes = Buffer.from(
    Uint32Array.from({ length: 6_000_000 }, (_, i) => i * 2_654_435_761).buffer,
  )
  let folder: string
  let file: OpenFile
  let sentBytes: number

  beforeEach(async () => {
    folder = makeTempFolder('send')
    writeFileSync(join(folder, 'file'), bytes)
    const pageCache = await loadPageCache()
    const opened = await new FolderStorage(folder, { pageCache }).open('file')
    sentBytes = 0
    file = {
      stat: opened.stat,
      read: (...how) => opened.read(...how),
      readv: (...how) => opened.readv(...how),
      sendCached(...how) {
        const sent = opened.sendCached?.(...how)
        sentBytes += sent ?? 0
        return sent
      },
      checkUnchanged: () => opened.checkUnchanged(),
      close: () => opened.close(),
    }
    const body = segmentBody(parts)
    const buffers = new BufferLease(new BufferPool())
    const window = { start: 0, end: body.sizeBytes }
    source = windowChunks(readBody(file, body, buffers), window, () => file.checkUnchanged())
    announcedBytes = body.sizeBytes
  })

  afterEach(() => file.close())

  it('sends nearly all bytes without reading them, in order, then the next response', async () => {
    const origin = await listen()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const body = await fetchSlowly(`${origin}/`, agent)
    expect(body.subarray(0, 4).toString()).toBe('head')
    expect(body.subarray(4).equals(bytes.subarray(1000, 20_001_000))).toBe(true)
    expect(sentBytes).toBeGreaterThan(15_000_000)
    expect(isSettled).toBe(true)
    expect((await fetchSlowly(`${origin}/other`, agent)).toString()).toBe('here')
    agent.destroy()
  })

  it('sends no complete body if the file is truncated meanwhile', async () => {
    const origin = await listen()
    const socket = await sendRequest(origin)
    await once(socket, 'readable')
    truncateSync(join(folder, 'file'), 15_000_000)
    const received = Buffer.concat(await socket.toArray())
    expect(received.length).toBeLessThan(announcedBytes)
    await expect.poll(() => isSettled).toBe(true)
  })
})

it('serves other requests while a fast client reads all bytes', async () => {
  const origin = await listen()
  let hasResponded = false
  // Ends only after another request got its response.
  source = { next: () => (hasResponded ? undefined : CHUNK) }
  const socket = await sendRequest(origin)
  socket.resume()
  expect(await (await fetch(`${origin}/other`)).text()).toBe('here')
  hasResponded = true
  await expect.poll(() => isSettled).toBe(true)
  socket.destroy()
})

import { once } from 'node:events'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BufferPool, BufferLease } from './buffer-pool.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'
import { readBody, windowChunks } from './read-body.ts'
import { segmentBody } from './segment-body.ts'
import type { Part } from '../media/media-reader.ts'
import { createFolderStorage } from '../storage/folder-storage.ts'
import { loadPageCache } from '../storage/page-cache.ts'
import type { OpenFile } from '../storage/storage.ts'
import { sendBody } from './send-body.ts'

const CHUNK = Buffer.alloc(256 * 1024, 7)

let app: FastifyInstance
let source: ChunkSource
/** Whether the route's handler is done with its buffers. */
let isSettled: boolean
let stalledMs: number | undefined
/** The length that the headers tell; 0: none. */
let announcedBytes: number

beforeEach(() => {
  isSettled = false
  stalledMs = undefined
  announcedBytes = 0
  app = Fastify()
  app.get('/', async (_, reply) => {
    void reply.header('content-type', 'video/mp2t')
    if (announcedBytes > 0) void reply.header('content-length', announcedBytes)
    await sendBody(reply, source, stalledMs)
    isSettled = true
    return reply
  })
  app.get('/other', async () => 'here')
})

afterEach(() => app.close())

async function listen(): Promise<string> {
  return app.listen({ port: 0, host: '127.0.0.1' })
}

/** So many chunks, each answered by what `give` makes of it. */
function chunks(count: number, give: (chunk: Buffer) => Chunk | Promise<Chunk>): ChunkSource {
  let left = count
  return { next: () => (left-- > 0 ? give(CHUNK) : undefined) }
}

/** A client that asks, and reads nothing until it is told to. */
async function ask(origin: string): Promise<Socket> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
  return socket
}

/** A client that now and then does not read for a while. */
async function fetchSlowly(url: string, agent: Agent): Promise<Buffer> {
  const asked = request(url, { agent }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer)
    if (chunks.length % 50 === 0) await sleep(5)
  }
  return Buffer.concat(chunks)
}

it.each([
  ['at once', (chunk: Buffer): Chunk => chunk],
  ['later', async (chunk: Buffer): Promise<Chunk> => sleep(1, chunk)],
])('sends chunks that are there %s, whole and in order', async (_, give) => {
  source = chunks(20, give)
  const answer = await fetch(await listen())
  const body = Buffer.from(await answer.arrayBuffer())
  expect(body.equals(Buffer.concat(Array.from({ length: 20 }, () => CHUNK)))).toBe(true)
  expect(isSettled).toBe(true)
})

it('answers an error before the first byte, and cuts the connection at a later one', async () => {
  const origin = await listen()
  const broken = async (): Promise<Chunk> => Promise.reject(new Error('the disk is gone'))
  source = chunks(1, broken)
  expect((await fetch(origin)).status).toBe(500)
  let given = 0
  source = chunks(3, (chunk) => (++given < 2 ? chunk : broken()))
  await expect(fetch(origin).then(async (answer) => answer.arrayBuffer())).rejects.toThrow(
    'terminated',
  )
  given = 0
  source = chunks(3, (chunk) => {
    if (++given < 2) return chunk
    throw new Error('the disk is gone')
  })
  await expect(fetch(origin).then(async (answer) => answer.arrayBuffer())).rejects.toThrow(
    'terminated',
  )
})

it('is not done before a read is over, although the client left', async () => {
  const { promise, resolve } = Promise.withResolvers<Chunk>()
  let given = 0
  source = chunks(3, (chunk) => (++given < 2 ? chunk : promise))
  const socket = await ask(await listen())
  await once(socket, 'data')
  socket.destroy()
  await sleep(100)
  expect(given).toBe(2)
  expect(isSettled).toBe(false)
  resolve(CHUNK)
  await expect.poll(() => isSettled).toBe(true)
  expect(given).toBe(2)
})

it('cuts off a client that takes nothing, and not one that takes little by little', async () => {
  stalledMs = 400
  const origin = await listen()
  source = chunks(100, (chunk) => chunk)
  const still = await ask(origin)
  await expect.poll(() => isSettled).toBe(true)
  still.destroy()

  isSettled = false
  stalledMs = 4000
  source = chunks(40, (chunk) => chunk)
  const slow = await ask(origin)
  slow.pause()
  let received = 0
  while (received < 40 * CHUNK.length) {
    await sleep(20)
    received += (slow.read() as Buffer | null)?.length ?? 0
  }
  slow.destroy()
})

describe.runIf(platform() === 'linux')('from a file that is in memory', () => {
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
    folder = mkdtempSync(join(tmpdir(), 'aftercast-send-'))
    writeFileSync(join(folder, 'file'), bytes)
    const pageCache = await loadPageCache()
    const opened = await createFolderStorage(folder, { pageCache }).open('file')
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
    const lent = new BufferLease(new BufferPool())
    const window = { start: 0, end: body.sizeBytes }
    source = windowChunks(readBody(file, body, lent), window, () => file.checkUnchanged())
    announcedBytes = body.sizeBytes
  })

  afterEach(async () => {
    await file.close()
    rmSync(folder, { recursive: true })
  })

  it('sends nearly all bytes without reading them, whole and in order, then the next answer', async () => {
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

  it('does not end well where the file became shorter or was written to meanwhile', async () => {
    const origin = await listen()
    const socket = await ask(origin)
    await once(socket, 'readable')
    truncateSync(join(folder, 'file'), 15_000_000)
    const received = Buffer.concat(await socket.toArray())
    expect(received.length).toBeLessThan(announcedBytes)
    await expect.poll(() => isSettled).toBe(true)
  })
})

it('lets other requests in while a client takes all that there is', async () => {
  const origin = await listen()
  let isAnswered = false
  // Ends only when another request was answered in between.
  source = { next: () => (isAnswered ? undefined : CHUNK) }
  const socket = await ask(origin)
  socket.resume()
  expect(await (await fetch(`${origin}/other`)).text()).toBe('here')
  isAnswered = true
  await expect.poll(() => isSettled).toBe(true)
  socket.destroy()
})

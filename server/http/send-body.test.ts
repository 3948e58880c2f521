import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Chunk, ChunkSource } from '../hls/chunk-source.ts'
import { sendBody } from './send-body.ts'

const CHUNK = Buffer.alloc(256 * 1024, 7)

let app: FastifyInstance
let source: ChunkSource
/** Whether the route's handler is done with its buffers. */
let isSettled: boolean
let stalledMs: number | undefined

beforeEach(() => {
  isSettled = false
  stalledMs = undefined
  app = Fastify()
  app.get('/', async (_, reply) => {
    void reply.header('content-type', 'video/mp2t')
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
  await expect.poll(() => isSettled, { timeout: 5000 }).toBe(true)
  still.destroy()

  isSettled = false
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

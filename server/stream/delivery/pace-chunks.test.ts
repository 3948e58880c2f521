import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { soon } from '../../../test/support/patience.ts'
import { CountedEgress } from '../../base/admission/egress.ts'
import type { Egress, EgressRequest } from '../../base/admission/egress.ts'
import { AppError } from '../../base/errors.ts'
import { eachChunk, sliceChunks } from './chunk-source.ts'
import { paceChunks } from './pace-chunks.ts'
import { sendBody } from './send-body.ts'

const BYTES = randomBytes(600_000)
/** A client that waits does not end its request. */
const never = async (): Promise<void> => new Promise(() => undefined)

it('awaits a grant for each byte, and gives no more than was granted', async () => {
  const grants = [100_000, 400_000, 1, 99_999, Infinity]
  const lengths: number[] = []
  const chunks: Buffer[] = []
  for await (const chunk of eachChunk(
    paceChunks(sliceChunks(BYTES), async () => grants.shift() ?? 0),
  )) {
    lengths.push(chunk.length)
    chunks.push(Buffer.from(chunk))
  }
  expect(Buffer.concat(chunks).equals(BYTES)).toBe(true)
  expect(lengths.slice(0, 2)).toEqual([100_000, 162_144])
  expect(grants).toEqual([])
})

it('sends without a copy what is left of a grant', async () => {
  const asked: number[] = []
  const send = (_socket: number, maxBytes: number): number => {
    asked.push(maxBytes)
    return Math.min(maxBytes, 20_000)
  }
  const source = { next: (maxBytes = 0) => BYTES.subarray(0, maxBytes), send }
  const paced = paceChunks(source, async () => 50_000)
  expect(paced.send?.(1, 1e6)).toBeUndefined()
  expect(await paced.next()).toHaveLength(16_384)
  expect([paced.send?.(1, 1e6), paced.send?.(1, 1e6), paced.send?.(1, 1e6)]).toEqual([
    20_000,
    13_616,
    undefined,
  ])
  expect(asked).toEqual([33_616, 13_616])
})

/** A server that sends the bytes, and what it requests of its budgets. */
async function serve(admit: Egress['admit']) {
  const state = { requests: [] as EgressRequest[], signals: [] as AbortSignal[], settled: 0 }
  const app = Fastify()
  const egress = new CountedEgress({
    async admit(request, signal) {
      state.requests.push(request)
      state.signals.push(signal)
      return admit(request, signal)
    },
  })
  app.decorateReply('pacing', { getter: () => ({ egress, grantBytes: 250_000 }) })
  app.setErrorHandler((error, _, reply) => reply.code(503).send(String(error)))
  app.get('/', async (_, reply) => {
    void reply.header('content-length', BYTES.length)
    await sendBody(reply, sliceChunks(BYTES)).finally(() => (state.settled += 1))
  })
  return { app, state, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
}

it('requests the bytes of a response, and no more', async () => {
  const { app, state, url } = await serve(async () => undefined)
  const body = Buffer.from(await (await fetch(url)).arrayBuffer())
  expect(body.equals(BYTES)).toBe(true)
  const client = '127.0.0.1'
  expect(state.requests).toEqual([
    { client, bytes: 250_000, part: 'start' },
    { client, bytes: 250_000, part: 'rest' },
    { client, bytes: 100_000, part: 'rest' },
  ])
  await app.close()
})

it('refuses a response before its head', async () => {
  const { app, url } = await serve(async () => {
    throw new AppError('busy', 'later')
  })
  const response = await fetch(url)
  expect([response.status, await response.text()]).toEqual([503, 'AppError: later'])
  await app.close()
})

it.each(['start', 'rest'])('leaves the queue at the %s when the client disconnects', async (at) => {
  const { app, state, url } = await serve(async ({ part }, signal) => {
    if (part !== at) return
    await Promise.race([never(), once(signal, 'abort')])
    throw signal.reason
  })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.resume().write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
  await expect.poll(() => state.requests.at(-1)?.part, soon).toBe(at)
  expect(state.signals.at(-1)?.aborted).toBe(false)
  socket.destroy()
  await expect.poll(() => state.settled, soon).toBe(1)
  await app.close()
})

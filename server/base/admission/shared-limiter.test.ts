// The limit of several workers, with messages between them and the primary as structured clones.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RateLimiter } from './rate-limiter.ts'
import { respondToLimit, SharedLimiter } from './shared-limiter.ts'

const clock = { ms: 0 }
const createLimiter = () => new RateLimiter({ requests: 3, windowMs: 60_000, now: () => clock.ms })

beforeEach(() => {
  clock.ms = 0
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => vi.useRealTimers())

/** A worker of this primary, and the number of its requests. */
function createWorker(primary: RateLimiter) {
  const counts = { requests: 0 }
  const worker: SharedLimiter = new SharedLimiter({
    own: createLimiter(),
    now: () => clock.ms,
    send: (request) => {
      counts.requests += 1
      queueMicrotask(() => worker.receive(respondToLimit(structuredClone(request), primary)))
    },
  })
  return { worker, counts }
}

const takeAll = async (workers: SharedLimiter[], address: string) =>
  Promise.all(workers.map((worker) => worker.take(address)))

test('is the same for a visitor of one worker and of several', async () => {
  const primary = createLimiter()
  const [one, two] = [createWorker(primary), createWorker(primary)]
  const [a, b] = [one.worker, two.worker]
  expect(await takeAll([a, a, b, b, a, b], '2001:db8::1')).toEqual([0, 0, 0, 60, 60, 60])
  expect(await takeAll([a, b], '2001:db8::ffff')).toEqual([60, 60])
  expect(await takeAll([a, b], '192.0.2.1')).toEqual([0, 0])
  clock.ms = 60_000
  expect(await takeAll([a, b], '2001:db8::1')).toEqual([0, 0])
})

test('sends no request for a visitor who is refused, until the time is over', async () => {
  const { worker, counts } = createWorker(createLimiter())
  await takeAll([worker, worker, worker, worker], '192.0.2.1')
  clock.ms = 30_000
  expect(await takeAll([worker, worker], '192.0.2.1')).toEqual([30, 30])
  expect(counts.requests).toBe(4)
})

test('is counted in the worker while the primary does not respond or is gone', async () => {
  const silent = new SharedLimiter({ own: createLimiter(), now: () => clock.ms, send: () => {} })
  const waiting = takeAll([silent, silent, silent, silent], '192.0.2.1')
  vi.advanceTimersByTime(5000)
  expect(await waiting).toEqual([0, 0, 0, 60])
  const cutOff = new SharedLimiter({
    own: createLimiter(),
    now: () => clock.ms,
    send: (_request, onFailure) => onFailure(),
  })
  expect(await takeAll([cutOff, cutOff, cutOff, cutOff], '192.0.2.1')).toEqual([0, 0, 0, 60])
})

test('has a bounded number of requests without a response', async () => {
  let sent = 0
  const silent = new SharedLimiter({
    own: createLimiter(),
    now: () => clock.ms,
    send: () => (sent += 1),
  })
  const waits = Array.from({ length: 1100 }, (_, at) => silent.take(`10.0.${at >> 8}.${at & 255}`))
  expect(sent).toBe(1000)
  vi.advanceTimersByTime(5000)
  expect(new Set(await Promise.all(waits))).toEqual(new Set([0]))
})

test('ignores other messages', () => {
  const worker = new SharedLimiter({ own: createLimiter(), now: () => 0, send: () => {} })
  const malformed = [{ takeLimit: null }, { takeLimit: { id: 1, network: {} } }, { limit: null }]
  for (const message of ['walked', undefined, null, { url: 'http://127.0.0.1' }, ...malformed]) {
    worker.receive(message)
    expect(respondToLimit(message, createLimiter())).toBeUndefined()
  }
})

import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runForClient } from '../../../base/admission/client.ts'
import type { SessionRow } from '../../../library/catalog/catalog.ts'
import { AppError } from '../../../base/errors.ts'
import { PageFacts } from './page-facts.ts'
import type { SessionFacts } from './page-facts.ts'

const row: SessionRow = {
  streamer: 'alice',
  date: '2026-01-31',
  sessionId: '1',
  path: 'alice/2026-01-31/1.mp4',
  kind: 'file',
  sizeBytes: 1,
  modifiedMs: 1,
  settlesAtMs: 0,
  state: { status: 'playable', durationSeconds: 1 },
}
const facts: SessionFacts = { description: 'd', chapters: [], imageSize: undefined }

let logged: string[]
let reads: number

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  logged = []
  reads = 0
})

afterEach(() => void vi.useRealTimers())

function factsOf(read: () => Promise<SessionFacts>): PageFacts {
  const session = async (): Promise<SessionFacts> => {
    reads += 1
    return read()
  }
  const streamer = () => Promise.reject(new AppError('busy', 'not now'))
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) })
  return new PageFacts({ session, streamer }, log)
}

test('are read once for a version of a recording, by any number of pages', async () => {
  const known = factsOf(async () => facts)
  expect(await Promise.all([known.session(row), known.session({ ...row })])).toEqual([facts, facts])
  expect(await known.session(row)).toEqual(facts)
  expect(reads).toBe(1)
  await known.session({ ...row, sizeBytes: 2 })
  expect(reads).toBe(2)
})

test('are left out where they cannot be read, and a defect is logged', async () => {
  const failing = factsOf(() => Promise.reject(new AppError('failed', 'a disk')))
  expect(await failing.session(row)).toBeUndefined()
  expect(await failing.streamer('alice')).toBeUndefined()
  expect(logged).toEqual([])
  const broken = factsOf(() => Promise.reject(new TypeError('a defect')))
  expect(await broken.session(row)).toBeUndefined()
  expect(logged.join()).toContain('a defect')
})

test('are left out after a second, and are there for the next page', async () => {
  const { promise, resolve } = Promise.withResolvers<SessionFacts>()
  const slow = factsOf(() => promise)
  const first = slow.session(row)
  await vi.advanceTimersByTimeAsync(1000)
  expect(await first).toBeUndefined()
  resolve(facts)
  expect(await slow.session(row)).toEqual(facts)
  expect(reads).toBe(1)
})

/** Facts whose reads end one by one, in the order in which they began. */
function countedFacts() {
  const ends: (() => void)[] = []
  const known = factsOf(async () => new Promise((resolve) => ends.push(() => resolve(facts))))
  const request = async (client: string, sessionId: string) =>
    runForClient(
      () => client,
      async () => known.session({ ...row, sessionId }),
    )
  return { ends, request }
}

test('wait while 16 others are read, for at most a second', async () => {
  const { ends, request } = countedFacts()
  const first = Array.from({ length: 16 }, async (_, i) => request('a', `${i}`))
  const waiting = request('a', 'another')
  await vi.advanceTimersByTimeAsync(999)
  expect(reads).toBe(16)
  await vi.advanceTimersByTimeAsync(1)
  expect(await waiting).toBeUndefined()
  for (const end of ends) end()
  expect(new Set(await Promise.all(first))).toEqual(new Set([undefined]))
  expect(await request('a', '0')).toEqual(facts)
})

test('are there for a client although another one requests many', async () => {
  const { ends, request } = countedFacts()
  const others = Array.from({ length: 40 }, async (_, i) => request('a', `${i}`))
  const own = request('b', 'own')
  await vi.advanceTimersByTimeAsync(0)
  ends.slice(0, 2).forEach((end) => end())
  await vi.advanceTimersByTimeAsync(0)
  ends.slice(2).forEach((end) => end())
  expect(await own).toEqual(facts)
  await vi.advanceTimersByTimeAsync(1000)
  await Promise.all(others)
})

import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
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

test('are left out while too many others are read', async () => {
  const { promise, resolve } = Promise.withResolvers<SessionFacts>()
  const busy = factsOf(() => promise)
  const others = Array.from({ length: 16 }, (_, i) => busy.session({ ...row, sessionId: `${i}` }))
  expect(await busy.session({ ...row, sessionId: 'another' })).toBeUndefined()
  resolve(facts)
  expect(new Set(await Promise.all(others))).toEqual(new Set([facts]))
  expect(await busy.session({ ...row, sessionId: 'another' })).toEqual(facts)
})

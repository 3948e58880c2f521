// Counters on a real disk: added up, bounded, shared by processes, and never in the way.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CountedEvent } from '../../../shared/contract.ts'
import { ActivityRecorder } from './activity-recorder.ts'
import { readActivityStats } from './activity-stats.ts'
import { openActivityStore } from './activity-store.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

let folder: string
let path: string
let failures: unknown[]
let nowMs: number

beforeEach(() => {
  folder = makeTempFolder('activity')
  path = join(folder, 'data', 'analytics.sqlite')
  failures = []
  nowMs = Date.parse('2026-01-31T23:59:59.900Z')
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const play = (streamer: string): CountedEvent => ({
  name: 'begin_video',
  streamer,
  date: '2026-01-30',
  sessionId: '1',
})
const view = (path_: string): CountedEvent => ({ name: 'page_view', path: path_, title: '' })

function openRecorder(): ActivityRecorder {
  return new ActivityRecorder({
    path,
    isKnownSubject: () => true,
    now: () => nowMs,
    onFailure: (error) => failures.push(error),
  })
}

const readAll = () => readActivityStats(path, { to: '2026-02-01', days: 30 })

test('adds up views and plays by day, streamer and session', async () => {
  const recorder = openRecorder()
  for (const event of [view('/'), view('/s/bob'), view('/p/bob/2026-01-30/1'), play('bob')]) {
    recorder.record(event)
  }
  nowMs += 1000
  recorder.record(view('/p/alice/2026-01-30/1'))
  recorder.record(play('alice'))
  recorder.record(play('alice'))
  await recorder.close()
  expect(readAll()).toEqual({
    from: '2026-01-03',
    to: '2026-02-01',
    days: [
      { day: '2026-02-01', views: 1, plays: 2 },
      { day: '2026-01-31', views: 3, plays: 1 },
    ],
    streamers: [
      { streamer: 'alice', views: 1, plays: 2 },
      { streamer: 'bob', views: 2, plays: 1 },
    ],
    sessions: [
      { streamer: 'alice', date: '2026-01-30', sessionId: '1', views: 1, plays: 2 },
      { streamer: 'bob', date: '2026-01-30', sessionId: '1', views: 1, plays: 1 },
    ],
    ads: [],
  })
})

test('adds up house ads by creative and zone', async () => {
  const recorder = openRecorder()
  const ad = { creative: 'tea', zone: 'banner' }
  for (const name of ['ad_impression', 'ad_impression', 'ad_click'] as const) {
    recorder.record({ name, ...ad })
  }
  await recorder.close()
  expect(readAll().ads).toEqual([{ ...ad, impressions: 2, clicks: 1 }])
})

test('writes about a second after the first event, and adds to the stored counts', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const recorder = openRecorder()
  recorder.record(play('bob'))
  vi.advanceTimersByTime(999)
  expect(readAll().days).toEqual([])
  vi.advanceTimersByTime(1)
  expect(readAll().days).toMatchObject([{ plays: 1 }])
  recorder.record(play('bob'))
  vi.advanceTimersByTime(1000)
  expect(readAll().days).toMatchObject([{ plays: 2 }])
  await recorder.close()
})

test('writes at once when much waits', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const recorder = openRecorder()
  for (let i = 0; i < 500; i += 1) recorder.record(play(`s${i}`))
  expect(readAll().streamers).toHaveLength(500)
  await recorder.close()
})

test('reports once that it cannot write, and writes the counts when it can', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  writeFileSync(join(folder, 'data'), 'a file where the folder should be')
  const recorder = openRecorder()
  for (let i = 0; i < 25_000; i += 1) recorder.record(play(`s${i}`))
  vi.advanceTimersByTime(10_000)
  expect(failures).toHaveLength(1)
  rmSync(join(folder, 'data'))
  mkdirSync(join(folder, 'data'))
  vi.advanceTimersByTime(2000)
  expect(readAll().streamers).toHaveLength(20_000)
  await recorder.close()
})

test('counts nothing, reports it once and does not throw if the catalog fails', async () => {
  const recorder = new ActivityRecorder({
    path,
    isKnownSubject: () => {
      throw new Error('the catalog is closed')
    },
    now: () => nowMs,
    onFailure: (error) => failures.push(error),
  })
  recorder.record(play('bob'))
  recorder.record(play('bob'))
  await recorder.close()
  expect(failures).toHaveLength(1)
  expect(readAll().days).toEqual([])
})

test('retries while another process holds the file, without blocking for long', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const pragma = vi.spyOn(Sqlite.prototype, 'pragma')
  const recorder = openRecorder()
  recorder.record(play('bob'))
  vi.advanceTimersByTime(1000)
  const other = new Sqlite(path)
  other.exec('BEGIN IMMEDIATE')
  recorder.record(play('bob'))
  vi.advanceTimersByTime(1000)
  const [sqlite] = pragma.mock.contexts as Sqlite.Database[]
  // The default of the SQLite binding is five seconds.
  expect(sqlite?.pragma('busy_timeout', { simple: true })).toBe(20)
  other.exec('ROLLBACK')
  other.close()
  vi.advanceTimersByTime(1000)
  expect(readAll().days).toMatchObject([{ plays: 2 }])
  expect(failures).toEqual([])
  await recorder.close()
})

test('writes remaining counts on close, even if another process holds the file', async () => {
  const first = openRecorder()
  first.record(play('bob'))
  await first.close()
  const other = new Sqlite(path)
  other.exec('BEGIN IMMEDIATE')
  const recorder = openRecorder()
  recorder.record(play('bob'))
  const closing = recorder.close()
  other.exec('ROLLBACK')
  other.close()
  await closing
  expect(readAll().days).toMatchObject([{ plays: 2 }])
})

test('counts what comes after the day’s bound without its names', () => {
  const store = openActivityStore(path, { rowsPerDay: 2, days: 800 })
  const row = { day: '2026-01-31', label: 'player', zone: '', date: 'd', sessionId: '1', amount: 1 }
  for (let i = 0; i < 6; i += 1) {
    store.add([{ ...row, name: 'page_view', streamer: `s${i % 3}` }])
  }
  store.close()
  expect(readAll().days).toEqual([{ day: '2026-01-31', views: 6, plays: 0 }])
  expect(readAll().streamers.map(({ streamer }) => streamer)).toEqual(['s0', 's1'])
})

test('deletes counters past their retention', () => {
  const store = openActivityStore(path, { rowsPerDay: 10, days: 2 })
  const row = { name: 'page_view', label: '', zone: '', streamer: '', date: '', sessionId: '' }
  for (const day of ['2026-01-29', '2026-01-30', '2026-01-31', '2026-02-01']) {
    store.add([{ ...row, name: 'page_view', day, amount: 1 }])
  }
  store.close()
  expect(readAll().days.map(({ day }) => day)).toEqual(['2026-02-01', '2026-01-31', '2026-01-30'])
})

test('deletes nothing because the clock is ten years ahead', async () => {
  const days = ['2025-06-30', '2026-01-30', '2036-01-31', '2026-01-31']
  for (const day of days) {
    nowMs = Date.parse(day)
    const recorder = openRecorder()
    recorder.record(play('bob'))
    await recorder.close()
  }
  const stats = readActivityStats(path, { to: '2036-01-31', days: 4000 })
  expect(stats.days.map(({ day }) => day)).toEqual(days.toSorted().toReversed())
})

test('keeps the newest days of a full file, whatever the clock', () => {
  const row = { name: 'page_view', label: '', zone: '', streamer: '', date: '', sessionId: '' }
  for (const day of ['2026-01-29', '2026-01-30', '2026-01-31', '2036-02-01', '2026-02-01']) {
    const store = openActivityStore(path, { rowsPerDay: 10, days: 2 })
    store.add([{ ...row, name: 'page_view', day, amount: 1 }])
    store.close()
  }
  const stats = readActivityStats(path, { to: '2036-02-01', days: 4000 })
  const kept = ['2036-02-01', '2026-02-01', '2026-01-31', '2026-01-30']
  expect(stats.days.map(({ day }) => day)).toEqual(kept)
})

test('loses nothing where two processes write at once', async () => {
  const moduleOf = (name: string) => JSON.stringify(join(import.meta.dirname, name))
  const total = 40_000
  const program = `
    import { ActivityRecorder } from ${moduleOf('activity-recorder.ts')}
    import { readActivityStats } from ${moduleOf('activity-stats.ts')}
    const options = { path: ${JSON.stringify(path)}, isKnownSubject: () => true, now: () => ${nowMs} }
    const recorder = new ActivityRecorder({ ...options, onFailure: (error) => { throw error } })
    for (let i = 0; i < ${total / 2}; i += 1) {
      const streamer = 's' + (i % 4000)
      recorder.record({ name: 'begin_video', streamer, date: '2026-01-30', sessionId: '1' })
      if (i % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const written = () => readActivityStats(options.path, { to: '2026-02-01', days: 30 })
    while ((written().days[0]?.plays ?? 0) < ${total}) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await recorder.close()`
  const run = async () => {
    const args = ['--input-type=module', '-e', program]
    const child = spawn(process.execPath, args, { stdio: 'inherit' })
    const [code] = await once(child, 'exit')
    return code
  }
  expect(await Promise.all([run(), run()])).toEqual([0, 0])
  expect(readAll().days).toMatchObject([{ plays: total }])
  expect(readAll().streamers).toHaveLength(4000)
})

test('returns empty statistics without a file, and rejects a file that is no database', () => {
  expect(readAll().days).toEqual([])
  mkdirSync(join(folder, 'data'))
  writeFileSync(path, 'not a database, but long enough to be parsed as one '.repeat(100))
  expect(readAll).toThrow('the counters cannot be read')
})

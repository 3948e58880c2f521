// Sessions at the same time: the same as a comparison of all, from an index.
import Sqlite from 'better-sqlite3'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import type { TimedSession } from '../catalog.ts'
import { AROUND } from './catalog-queries.ts'
import { CatalogWriter } from './catalog-writer.ts'
import type { Database } from './database.ts'
import { createHiddenNames } from './hidden.ts'
import { planInspectionResult } from './inspection-result.ts'
import { createCatalog } from './sqlite-catalog.ts'
import { createTempCatalog, foundRecording } from '../../../../test/support/temp-catalog.ts'

const START = Date.UTC(2026, 0, 31, 20)
const MINUTE = 60_000
const HOUR = 60 * MINUTE

interface Timed {
  streamer: string
  sessionId: string
  startMs: number | undefined
  durationMs: number
}

let file: string
let database: Database

beforeEach(() => {
  ;({ file, database } = createTempCatalog('around'))
})

function add(...sessions: readonly Timed[]): void {
  const writer = new CatalogWriter(database)
  const found = sessions.map(({ streamer, sessionId }) =>
    foundRecording({ streamer, date: 'day', sessionId }),
  )
  writer.apply({ found, gone: [] })
  const inspected = writer.duePending(1, found.length).flatMap((recording) => {
    const { streamer, sessionId } = recording.session
    const one = sessions.find((each) => each.streamer === streamer && each.sessionId === sessionId)
    if (one === undefined) return []
    const { startMs, durationMs } = one
    const outcome = { status: 'playable', durationSeconds: durationMs / 1000, startMs } as const
    const context = { nowMs: 1, tookMs: 1, settlesAtMs: 0, attempts: 0 }
    return [{ recording, result: planInspectionResult({ ...outcome, isFlawed: false }, context) }]
  })
  writer.record(inspected)
}

function around(streamer: string, sessionId: string): TimedSession[] {
  const catalog = createCatalog(database)
  const row = catalog.findSession({ streamer, date: 'day', sessionId })
  return row === undefined ? [] : catalog.around(row)
}

const keys = (sessions: readonly Pick<TimedSession, 'streamer' | 'sessionId'>[]): string[] =>
  sessions.map(({ streamer, sessionId }) => `${streamer}/${sessionId}`)

test('have the longest overlap first, of at least a minute', () => {
  const hour = { sessionId: '1', startMs: START, durationMs: HOUR }
  add(
    { ...hour, streamer: 'alice' },
    { ...hour, streamer: 'alice', sessionId: '2' },
    { ...hour, streamer: 'before', startMs: START - HOUR + MINUTE },
    { ...hour, streamer: 'too-early', startMs: START - HOUR + MINUTE - 1 },
    { ...hour, streamer: 'late', startMs: START + HOUR - 2 * MINUTE, durationMs: 100 * HOUR },
    { ...hour, streamer: 'inside', startMs: START + MINUTE, durationMs: 3 * MINUTE },
    { ...hour, streamer: 'short', durationMs: MINUTE - 1 },
    { ...hour, streamer: 'unknown', startMs: undefined },
    { ...hour, streamer: 'whole', startMs: START - 900 * HOUR, durationMs: 2000 * HOUR },
  )
  const found = around('alice', '1')
  expect(keys(found)).toEqual(['whole/1', 'inside/1', 'late/1', 'before/1'])
  expect(found[1]).toEqual({
    streamer: 'inside',
    date: 'day',
    sessionId: '1',
    startMs: START + MINUTE,
    endMs: START + 4 * MINUTE,
  })
  expect(around('unknown', '1')).toEqual([])
})

test('are neither hidden nor of a hidden streamer, and at most 50', () => {
  const at = { startMs: START, durationMs: HOUR }
  const others = Array.from({ length: 60 }, (_, i) => ({
    streamer: 'bob',
    sessionId: `${i}`,
    ...at,
  }))
  add(
    { streamer: 'alice', sessionId: '1', ...at },
    { streamer: 'carol', sessionId: '1', ...at, durationMs: 2 * HOUR },
    { streamer: 'dave', sessionId: '1', ...at },
    ...others,
  )
  expect(around('alice', '1')).toHaveLength(50)
  const hidden = createHiddenNames(database)
  hidden.hide({ kind: 'streamer', streamer: 'bob' })
  expect(keys(around('alice', '1'))).toEqual(['carol/1', 'dave/1'])
  hidden.hide({ kind: 'session', streamer: 'carol', date: 'day', sessionId: '1' })
  expect(keys(around('alice', '1'))).toEqual(['dave/1'])
})

test('are by the start of the sidecars, if they have one', () => {
  const at = { startMs: START, durationMs: HOUR }
  add({ streamer: 'alice', sessionId: '1', ...at }, { streamer: 'bob', sessionId: '1', ...at })
  const sqlite = new Sqlite(file)
  const set = sqlite.prepare(`UPDATE recordings SET facts = ? WHERE folder_id = (
    SELECT id FROM folders WHERE path = 'bob/day')`)
  for (const [facts, expected] of [
    [`{"title":"T","startMs":${START + MINUTE}}`, [START + MINUTE]],
    [`{"startMs":${START + HOUR}}`, []],
    ['{"startMs":"x"}', [START]],
    ['{broken', [START]],
  ] as const) {
    set.run(facts)
    expect(around('alice', '1').map(({ startMs }) => startMs)).toEqual(expected)
  }
  sqlite.close()
})

test('are by names where an older release, or another time zone, has read them', () => {
  const named = { startMs: undefined, durationMs: HOUR }
  add(
    { ...named, streamer: 'alice', sessionId: '20260131T200000Z' },
    { ...named, streamer: 'bob', sessionId: '20260131T203000Z' },
    { ...named, streamer: 'carol', sessionId: 'nothing' },
  )
  expect(around('alice', '20260131T200000Z')).toEqual([])
  const found = [{ streamer: 'bob', startMs: START + HOUR / 2 }]
  for (const zone of ['Europe/Berlin', 'Asia/Tokyo']) {
    const writer = new CatalogWriter(database)
    const before = createCatalog(database).generation()
    while (!writer.useZone(zone));
    expect(around('alice', '20260131T200000Z')).toMatchObject(found)
    expect(createCatalog(database).generation()).toBe(before + 1)
    expect(writer.useZone(zone)).toBe(true)
    const sqlite = new Sqlite(file)
    sqlite.exec('UPDATE recordings SET recorded_start_ms = 5')
    sqlite.close()
  }
})

test('are those that a comparison of all finds', () => {
  // Around each limit of a span, and close to each other.
  const hours = fc.constantFrom(0, 1, 4, 16, 64, 256, 300)
  const session = fc.record({
    streamer: fc.constantFrom('a', 'b', 'c'),
    startMs: fc
      .tuple(hours, fc.integer({ min: -90, max: 90 }))
      .map(([h, m]) => START + h * HOUR + m * MINUTE),
    durationMs: fc
      .tuple(hours, fc.integer({ min: -70, max: 70 }))
      .map(([h, m]) => Math.max(1, h * HOUR + m * MINUTE)),
  })
  fc.assert(
    fc.property(fc.array(session, { minLength: 1, maxLength: 12 }), (drawn) => {
      ;({ file, database } = createTempCatalog('around'))
      const sessions = drawn.map((one, i) => ({ ...one, sessionId: `${i}` }))
      add(...sessions)
      for (const own of sessions) {
        const overlap = (other: Timed & { startMs: number }): number =>
          Math.min(own.startMs + own.durationMs, other.startMs + other.durationMs) -
          Math.max(own.startMs, other.startMs)
        const expected = sessions
          .filter((other) => other.streamer !== own.streamer && overlap(other) >= MINUTE)
          .toSorted(
            (a, b) => overlap(b) - overlap(a) || (keys([a]).join() < keys([b]).join() ? -1 : 1),
          )
        expect(keys(around(own.streamer, own.sessionId))).toEqual(keys(expected))
      }
    }),
    { numRuns: 30 },
  )
})

test('are read from ranges of an index', () => {
  const sqlite = new Sqlite(file, { readonly: true })
  const period = { streamer: 'a', startMs: 0, endMs: 1, overlapMs: 1, limit: 50 }
  const plan = sqlite.prepare(`EXPLAIN QUERY PLAN ${AROUND}`).all(period)
  sqlite.close()
  const details = plan.map((step) => String(Reflect.get(Object(step), 'detail')))
  const ofRecordings = details.filter((detail) => detail.includes(' recordings'))
  const range =
    'SEARCH recordings USING INDEX recordings_by_time (span=? AND starts_at_ms>? AND starts_at_ms<?)'
  const byId = 'SEARCH recordings USING INTEGER PRIMARY KEY (rowid=?)'
  expect(ofRecordings).toEqual([...Array.from({ length: 12 }, () => range), byId])
  expect(details.filter((detail) => detail.startsWith('SCAN'))).not.toContain('SCAN streamers')
})

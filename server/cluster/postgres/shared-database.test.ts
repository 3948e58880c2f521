// The shared database: migrations of nodes that start together, counters, secret, failures.
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { queryOnce, sharedPostgres } from '../../../test/support/servers/postgres.ts'
import type { StartedPostgres } from '../../../test/support/servers/postgres.ts'
import { startSilentRelay } from '../../../test/support/servers/silent-relay.ts'
import type { SharedRecording } from '../../library/catalog/store/recording-columns.ts'
import { describeProblem } from './connection-problem.ts'
import { agreeOnSecret, claimScan, readLibrary, renewScan } from './library-row.ts'
import { migrateSharedDatabase } from './migrations.ts'
import { mergeCounts, pruneCounts } from './shared-counts.ts'
import type { SharedCount } from './shared-counts.ts'
import { HIDE_LIMITS, openSharedDatabase } from './shared-database.ts'
import type { SharedDatabase } from './shared-database.ts'
import {
  addHidden,
  changeHidden,
  listHideLog,
  readHiddenChanges,
  readHiddenPage,
} from './shared-hidden.ts'
import type { SharedHiddenName } from './shared-hidden.ts'
import { pruneDeletions, publishRecordings, readChanges } from './shared-recordings.ts'

let postgres: StartedPostgres
let url: string
let database: SharedDatabase

beforeAll(async () => {
  postgres = await sharedPostgres(inject('postgresFolder'))
})

beforeEach(async () => {
  url = await postgres.createDatabase()
  database = openSharedDatabase(url, () => undefined)
})

afterEach(async () => database.destroy())

function countOf(day: string, sessionId: string, amount = 1): SharedCount {
  const session = { streamer: 'alice', date: '2026-01-31', sessionId }
  return { day, name: 'begin_video', label: '', zone: '', ...session, amount }
}

function recordingOf(name: string): SharedRecording {
  return {
    folder: 'alice/2026-01-31',
    name,
    streamer: 'alice',
    date: '2026-01-31',
    sessionId: name,
    kind: 'file',
    rank: 0,
    sizeBytes: 5_000_000_000,
    modifiedMs: 1_769_817_600_000,
    version: 'v',
    status: 'playable',
    durationSeconds: 12.25,
    recordedStartMs: 1_769_817_600_000,
    reason: null,
    flawed: 0,
    settlesAtMs: 1,
    retryAtMs: 0,
    restUntilMs: 0,
    attempts: 0,
    sidecars: 's',
    titledBy: 's',
    facts: '{"title":"Zoë 日本","startMs":1769817600000}',
  }
}

describe('the migrations', () => {
  it('run once for nodes that start together', async () => {
    const nodes = Array.from({ length: 6 }, () => openSharedDatabase(url, () => undefined))
    await Promise.all(nodes.map(async (node) => migrateSharedDatabase(node)))
    await Promise.all(nodes.map(async (node) => node.destroy()))
    expect(await queryOnce(url, 'SELECT number FROM aftercast.migrations')).toEqual([
      { number: 1 },
      { number: 2 },
      { number: 3 },
      { number: 4 },
      { number: 5 },
      { number: 6 },
    ])
    expect(await readLibrary(database)).toMatchObject({ generation: 1, layout: null })
  })

  it('carry titles to nodes of an older release, and from them', async () => {
    await migrateSharedDatabase(database)
    await queryOnce(
      url,
      `DROP TRIGGER carry_facts ON aftercast.recordings;
       DROP FUNCTION aftercast.carry_facts;
       ALTER TABLE aftercast.recordings DROP COLUMN facts, DROP COLUMN recorded_start_ms;
       DELETE FROM aftercast.migrations WHERE number > 4`,
    )
    // As an older node writes a row.
    const put = async (name: string, title: string): Promise<unknown> =>
      queryOnce(
        url,
        `INSERT INTO aftercast.recordings (folder, name, streamer, date, session_id, kind, rank,
           size_bytes, modified_ms, version, status, duration_seconds, reason, flawed,
           settles_at_ms, retry_at_ms, rest_until_ms, attempts, sidecars, titled_by, title,
           starts_at_ms, generation, removed_at)
         VALUES ('alice', '${name}', 'alice', '1', '${name}', 'file', 0, 1, 1, 'v', 'found', NULL,
           NULL, 0, 1, 0, 0, 0, 's', 's', '${title}', 1769817600000, 2, NULL)
         ON CONFLICT (folder, name) DO UPDATE SET title = excluded.title,
           starts_at_ms = excluded.starts_at_ms, generation = excluded.generation`,
      )
    const read = async (): Promise<string[]> => {
      const { present } = await readChanges(database, { after: 1, upTo: 9, limit: 1000 })
      return present.map(({ facts }) => facts).toSorted()
    }
    const factsOf = (title: string): string => JSON.stringify({ title, startMs: 1_769_817_600_000 })
    await put('1.mp4', 'One')
    await migrateSharedDatabase(database)
    await put('2.mp4', 'Two')
    expect(await read()).toEqual([factsOf('One'), factsOf('Two')])
    await put('2.mp4', 'Another')
    expect(await read()).toEqual([factsOf('Another'), factsOf('One')])

    await claimScan(database, 'a')
    const [row] = await readChanges(database, { after: 1, upTo: 9, limit: 1000 }).then(
      ({ present }) => present.filter(({ name }) => name === '2.mp4'),
    )
    const facts = '{"title":"New","startMs":5,"later":1}'
    const present =
      row === undefined
        ? []
        : [
            { ...row, facts },
            { ...row, name: '3.mp4', facts },
          ]
    await publishRecordings(database, 'a', { present, gone: [] })
    expect(await read()).toEqual([facts, facts, factsOf('One')])
    const titles = 'SELECT title, starts_at_ms::int AS start FROM aftercast.recordings'
    const renamed = { title: 'New', start: 5 }
    expect(await queryOnce(url, `${titles} WHERE name <> '1.mp4'`)).toEqual([renamed, renamed])
  })

  it('refuse a database of a newer release', async () => {
    await migrateSharedDatabase(database)
    await queryOnce(url, 'INSERT INTO aftercast.migrations VALUES (99)')
    await expect(migrateSharedDatabase(database)).rejects.toThrow('of a newer release: ')
  })
})

describe('published recordings', () => {
  beforeEach(async () => void (await migrateSharedDatabase(database)))

  it('are read back as they were, in whole generations', async () => {
    expect(await claimScan(database, 'a')).toBe(true)
    const names = Array.from({ length: 5 }, (_, at) => [`${at}-1.mp4`, `${at}-2.mp4`])
    for (const pair of names) {
      await publishRecordings(database, 'a', { present: pair.map(recordingOf), gone: [] })
    }
    await publishRecordings(database, 'a', {
      present: [],
      gone: [{ folder: 'alice/2026-01-31', name: '0-1.mp4' }],
    })
    const first = await readChanges(database, { after: 1, upTo: 7, limit: 4 })
    expect(first).toMatchObject({ gone: [], upTo: 3, invalid: 0 })
    expect(first.present.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
      ['0-2.mp4', '1-1.mp4', '1-2.mp4'].map(recordingOf),
    )
    const rest = await readChanges(database, { after: 3, upTo: 7, limit: 100 })
    expect(rest.present).toHaveLength(6)
    expect(rest).toMatchObject({
      gone: [{ folder: 'alice/2026-01-31', name: '0-1.mp4' }],
      upTo: 7,
    })
  })

  it('are recorded as deleted for a day, and pruned in steps', async () => {
    await claimScan(database, 'a')
    await publishRecordings(database, 'a', { present: [recordingOf('here')], gone: [] })
    await queryOnce(
      url,
      `INSERT INTO aftercast.recordings
       SELECT (jsonb_populate_record(here, jsonb_build_object('name', number,
         'generation', 10 + number, 'removed_at', now() - interval '2 days'))).*
       FROM aftercast.recordings AS here, generate_series(1, 5001) AS number`,
    )
    const left = `SELECT count(*)::int AS left FROM aftercast.recordings`
    expect(await pruneDeletions(database, 'b')).toBe(false)
    expect(await queryOnce(url, left)).toEqual([{ left: 5002 }])
    expect(await pruneDeletions(database, 'a')).toBe(true)
    expect(await queryOnce(url, left)).toEqual([{ left: 2 }])
    expect((await readLibrary(database)).completeSince).toBeGreaterThanOrEqual(5010)
    expect(await pruneDeletions(database, 'a')).toBe(false)
    expect(await queryOnce(url, left)).toEqual([{ left: 1 }])
    expect((await readLibrary(database)).completeSince).toBe(5011)
  })

  it('are refused from a process whose claim another one has taken', async () => {
    await claimScan(database, 'a')
    expect(await claimScan(database, 'b')).toBe(false)
    await queryOnce(url, `UPDATE aftercast.library SET scanner_until = now() - interval '1 s'`)
    expect(await claimScan(database, 'b')).toBe(true)
    expect(await renewScan(database, 'a')).toBe(false)
    const rows = { present: [recordingOf('1.mp4')], gone: [] }
    expect(await publishRecordings(database, 'a', rows)).toBe(undefined)
    expect(await publishRecordings(database, 'b', rows)).toBe(2)
    expect((await readLibrary(database)).generation).toBe(2)
  })
})

describe('hidden names', () => {
  beforeEach(async () => void (await migrateSharedDatabase(database)))

  const nameOf = (number: number): SharedHiddenName => {
    return { streamer: 'alice', date: '2026-01-31', sessionId: String(number).padStart(4, '0') }
  }

  it('are read in pages of changes, one generation each, and of names', async () => {
    const names = Array.from({ length: 1500 }, (_, number) => nameOf(number))
    expect(await addHidden(database, names)).toBe(1500)
    expect(await addHidden(database, names)).toBe(0)
    const first = await readHiddenChanges(database, 1)
    expect(first).toMatchObject({ upTo: 1001, library: { generation: 1501 } })
    const second = await readHiddenChanges(database, first.upTo)
    expect(second.upTo).toBe(1501)
    expect([...first.changes, ...second.changes]).toHaveLength(1500)
    expect(await readHiddenChanges(database, 1501)).toMatchObject({ changes: [], upTo: 1501 })
    const { names: page, upTo } = await readHiddenPage(database, nameOf(-1))
    expect([page.length, upTo]).toEqual([1000, nameOf(999)])
    expect(await readHiddenPage(database, nameOf(999))).toEqual({
      names: names.slice(1000),
      upTo: undefined,
    })
  })

  it('change with their log in one statement, also by several connections at once', async () => {
    const entry = { ...nameOf(1), atMs: 1_769_817_600_000, reason: 'by request' }
    const hide = async (): Promise<boolean> => changeHidden(database, { ...entry, action: 'hide' })
    await Promise.all([hide(), hide(), hide()])
    expect(await hide()).toBe(false)
    expect((await listHideLog(database))[0]).toEqual({ ...entry, action: 'hide' })
    expect(await changeHidden(database, { ...entry, action: 'unhide' })).toBe(true)
    expect((await listHideLog(database)).at(-1)).toEqual({ ...entry, action: 'unhide' })
    const { changes } = await readHiddenChanges(database, 1)
    expect(changes).toMatchObject([{ ...nameOf(1), isHidden: false }])
  })
})

describe('counters', () => {
  beforeEach(async () => void (await migrateSharedDatabase(database)))

  it('of a batch count once, also when it is sent by several connections at once', async () => {
    const one = { id: 'one', counts: [countOf('2026-01-31', '1'), countOf('2026-01-31', '2', 5)] }
    const two = { id: 'two', counts: [countOf('2026-01-31', '2', 7)] }
    await Promise.all([one, two, one, two, one].map(async (batch) => mergeCounts(database, batch)))
    expect(
      await queryOnce(url, 'SELECT session_id, amount FROM aftercast.daily_counts ORDER BY 1'),
    ).toEqual([
      { session_id: '1', amount: '1' },
      { session_id: '2', amount: '12' },
    ])
  })

  it('beyond a number of rows are stored without names', async () => {
    const limits = { rowsPerDay: 2, days: 800 }
    const counts = ['1', '2', '3', '4'].map((id) => countOf('2026-01-31', id))
    await mergeCounts(database, { id: 'one', counts }, limits)
    const more = ['1', '5'].map((id) => countOf('2026-01-31', id))
    await mergeCounts(database, { id: 'two', counts: more }, limits)
    const rows = await queryOnce(
      url,
      'SELECT session_id, amount FROM aftercast.daily_counts ORDER BY session_id',
    )
    expect(rows).toHaveLength(3)
    expect(rows[0]).toEqual({ session_id: '', amount: '3' })
  })

  it('without names are added to those of a day that is full', async () => {
    const limits = { rowsPerDay: 2, days: 800 }
    const nameless = { ...countOf('2026-01-31', ''), streamer: '', date: '' }
    const counts = [nameless, ...['1', '2', '3'].map((id) => countOf('2026-01-31', id))]
    await mergeCounts(database, { id: 'one', counts }, limits)
    expect(await mergeCounts(database, { id: 'two', counts }, limits)).toBe(0)
    expect(
      await queryOnce(url, `SELECT sum(amount)::int AS amount FROM aftercast.daily_counts`),
    ).toEqual([{ amount: 8 }])
  })

  it('that are twice in a batch are added up', async () => {
    const one = countOf('2026-01-31', '1', 3)
    await mergeCounts(database, { id: 'one', counts: [one] })
    await mergeCounts(database, { id: 'two', counts: [one, { ...one, amount: 4 }] })
    expect(await queryOnce(url, 'SELECT amount FROM aftercast.daily_counts')).toEqual([
      { amount: '10' },
    ])
  })

  it('that are not valid, or refused by the database, do not stop the others', async () => {
    await mergeCounts(database, { id: 'one', counts: [countOf('2026-01-31', 'full')] })
    await queryOnce(url, `UPDATE aftercast.daily_counts SET amount = ${2n ** 63n - 1n}`)
    const ids = Array.from({ length: 9 }, (_, at) => (at === 4 ? 'full' : String(at)))
    const counts = [
      ...ids.map((id) => countOf('2026-01-31', id)),
      { ...countOf('2026-01-31', 'nameless'), name: '' },
      countOf('2026-1-31', 'day'),
      countOf('2026-01-31', 'amount', NaN),
    ]
    expect(await mergeCounts(database, { id: 'two', counts })).toBe(4)
    expect(await mergeCounts(database, { id: 'two', counts })).toBe(3)
    const stored = `SELECT session_id FROM aftercast.daily_counts WHERE amount = 1 ORDER BY 1`
    expect(await queryOnce(url, stored)).toEqual(
      ids.filter((id) => id !== 'full').map((id) => ({ session_id: id })),
    )
  })

  it('with new names are added to a day with many others', async () => {
    await queryOnce(
      url,
      `INSERT INTO aftercast.daily_counts
       SELECT '2026-01-31', 'begin_video', '', '', 'bob', '2026-01-31', number::text, 1
       FROM generate_series(1, 30000) AS number`,
    )
    const counts = Array.from({ length: 15_000 }, (_, at) => countOf('2026-01-31', String(at)))
    // Within the time limit of a statement: the rows of the day are counted once, not per name.
    await mergeCounts(database, { id: 'one', counts })
    const rows = await queryOnce(url, 'SELECT count(*)::int AS rows FROM aftercast.daily_counts')
    expect(rows).toEqual([{ rows: 45_000 }])
  })

  it('with names that cannot be stored count without them', async () => {
    const long = { ...countOf('2026-01-31', 'x'.repeat(3000)), streamer: 'y'.repeat(3000) }
    const counts = [countOf('2026-01-31', '\0'), countOf('2026-01-31', '\ud800'), long]
    await mergeCounts(database, { id: 'one', counts })
    expect(await queryOnce(url, 'SELECT streamer, amount FROM aftercast.daily_counts')).toEqual([
      { streamer: '', amount: '3' },
    ])
  })

  it('of all but the newest days are deleted, in steps', async () => {
    const counts = ['2026-01-01', '2026-01-02', '2026-01-03'].map((day) => countOf(day, '1'))
    await mergeCounts(database, { id: 'one', counts })
    await queryOnce(
      url,
      `INSERT INTO aftercast.daily_counts
       SELECT '2025-12-31', 'begin_video', '', '', 'bob', '', number::text, 1
       FROM generate_series(1, 10001) AS number;
       INSERT INTO aftercast.activity_batches
       SELECT number::text, now() - interval '91 days' FROM generate_series(1, 5001) AS number`,
    )
    const left: number[] = []
    for await (const _ of pruneCounts(database, { rowsPerDay: 10, days: 2 })) {
      const rows = await queryOnce(
        url,
        `SELECT (SELECT count(*) FROM aftercast.daily_counts)::int +
         (SELECT count(*) FROM aftercast.activity_batches)::int AS left`,
      )
      left.push(
        ...z
          .array(z.object({ left: z.int() }))
          .parse(rows)
          .map((row) => row.left),
      )
    }
    expect(left).toEqual([10_006, 5006, 5004, 5 - 1, 3, 3])
    expect(await queryOnce(url, 'SELECT day FROM aftercast.daily_counts ORDER BY 1')).toEqual([
      { day: '2026-01-02' },
      { day: '2026-01-03' },
    ])
    expect(await queryOnce(url, 'SELECT id FROM aftercast.activity_batches')).toEqual([
      { id: 'one' },
    ])
  })

  it('are not deleted while there are only days to keep', async () => {
    await mergeCounts(database, { id: 'one', counts: [countOf('2026-01-01', '1')] })
    for await (const _ of pruneCounts(database, { rowsPerDay: 10, days: 2 })) continue
    expect(await queryOnce(url, 'SELECT day FROM aftercast.daily_counts')).toHaveLength(1)
  })
})

describe('the secret', () => {
  it('is the first that a node offers', async () => {
    await migrateSharedDatabase(database)
    expect(await agreeOnSecret(database, 'first')).toBe('first')
    expect(await agreeOnSecret(database, 'second')).toBe('first')
  })
})

describe('a connection that the server closes', () => {
  it('is replaced, whether a statement runs or not', async () => {
    await migrateSharedDatabase(database)
    const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`
    await queryOnce(url, others)
    // The pool may not have noticed yet.
    await readLibrary(database).catch(() => undefined)
    expect((await readLibrary(database)).generation).toBe(1)
  })

  it('is given up within seconds if it is for hidden names and has become silent', async () => {
    await migrateSharedDatabase(database)
    const relay = await startSilentRelay(postgres.port)
    const relayed = relay.through(url)
    const other = openSharedDatabase(relayed, () => undefined)
    const hiding = openSharedDatabase(relayed, () => undefined, HIDE_LIMITS)
    try {
      await Promise.all([readLibrary(other), readLibrary(hiding)])
      relay.silence()
      const failing = [readLibrary(other), readLibrary(hiding)].map(async (reading, at) =>
        reading.catch(() => at),
      )
      expect(await Promise.race(failing)).toBe(1)
      expect((await readHiddenChanges(hiding, 0)).library.generation).toBe(1)
    } finally {
      await relay.stop()
      await Promise.all([other.destroy(), hiding.destroy()])
    }
  })

  it('is described without a secret', async () => {
    const wrong = new URL(url)
    wrong.password = 'wrong-password'
    const refused = openSharedDatabase(wrong.href, () => undefined)
    const error: unknown = await readLibrary(refused).catch((reason: unknown) => reason)
    await refused.destroy()
    expect(describeProblem(error)).toEqual({
      kind: 'refused',
      text: 'password authentication failed for user "aftercast"',
    })
  })

  it.each([
    ['?sslmode=verify-full&sslrootcert=/no/ca.pem', 'there is no such file or folder: /no/ca.pem'],
    ['%ff', 'URI malformed'],
  ])('is refused with a URL that ends in %s', async (ending, text) => {
    const refused = openSharedDatabase(url + ending, () => undefined)
    const error: unknown = await readLibrary(refused).catch((reason: unknown) => reason)
    await refused.destroy()
    expect(describeProblem(error)).toEqual({ kind: 'refused', text })
  })
})

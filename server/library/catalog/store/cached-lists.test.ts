// Cached lists follow every change of the catalog, as if they were read from the database each
// time.
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAppError } from '../../../base/errors.ts'
import { CatalogWriter } from './catalog-writer.ts'
import type { Catalog, SessionName } from '../catalog.ts'
import { openDatabase } from './database.ts'
import type { Database } from './database.ts'
import { createHiddenNames } from './hidden.ts'
import type { HiddenNames } from './hidden.ts'
import { planInspectionResult } from './inspection-result.ts'
import type { Inspection } from './inspection-result.ts'
import { createCatalog } from './sqlite-catalog.ts'
import { foundRecording } from '../../../../test/support/temp-catalog.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'

const STREAMERS = ['Bob', 'alice', 'bob', 'zoë']
const IDS = ['1', '2', '10']
const DATE = '2026-01-31'
const NOW_MS = 1e12

interface Step {
  kind: keyof typeof steps
  streamer: string
  sessionId: string
  ending: '.mp4' | '.ts'
  size: number
}

interface Life {
  writer: CatalogWriter
  hidden: HiddenNames
}

/** What may happen to a library, by the same calls as the scanner and the commands make. */
const steps = {
  put({ writer }: Life, { streamer, sessionId, ending, size }: Step): void {
    const session = { streamer, date: DATE, sessionId }
    const match = { session, rank: ending === '.mp4' ? 0 : 3 }
    const stat = { sizeBytes: size, modifiedMs: size, version: `${size}` }
    const place = { folder: `${streamer}/${DATE}`, name: sessionId + ending, kind: 'file' } as const
    const sidecars = `${size % 3}`
    writer.apply({ found: [{ ...place, stat, match, settlesAtMs: 0, sidecars }], gone: [] })
  },
  remove({ writer }: Life, { streamer, sessionId, ending }: Step): void {
    const { recordings } = writer.readFolder(`${streamer}/${DATE}`)
    const known = recordings.find(({ name }) => name === sessionId + ending)
    if (known) writer.apply({ found: [], gone: [known.id] })
  },
  play({ writer }: Life, step: Step): void {
    inspect(writer, step, { status: 'playable', durationSeconds: step.size, isFlawed: false })
  },
  fail({ writer }: Life, step: Step): void {
    inspect(writer, step, { status: 'unplayable', reason: { code: 'encrypted' } })
  },
  title({ writer }: Life, { size }: Step): void {
    const [recording] = writer.untitled(1)
    if (recording === undefined) return
    const { id, sidecars } = recording
    writer.recordTitles([{ id, sidecars, facts: { title: `${size}`, startMs: size } }])
  },
  hide({ hidden }: Life, { streamer, sessionId }: Step): void {
    hidden.hide({ kind: 'session', streamer, date: DATE, sessionId })
  },
  unhide({ hidden }: Life, { streamer, sessionId }: Step): void {
    hidden.unhide({ kind: 'session', streamer, date: DATE, sessionId })
  },
  hideAll({ hidden }: Life, { streamer }: Step): void {
    hidden.hide({ kind: 'streamer', streamer })
  },
  unhideAll({ hidden }: Life, { streamer }: Step): void {
    hidden.unhide({ kind: 'streamer', streamer })
  },
}

function inspect(writer: CatalogWriter, { streamer, sessionId }: Step, outcome: Inspection): void {
  const id = writer.findPending({ streamer, date: DATE, sessionId })
  const job = id === undefined ? undefined : writer.readPending(id, NOW_MS)
  const context = { nowMs: NOW_MS, tookMs: 1, settlesAtMs: 0, attempts: 0 }
  if (job) writer.record([{ recording: job, result: planInspectionResult(outcome, context) }])
}

/** Every read of the catalog. */
function readAll(catalog: Catalog): unknown {
  return {
    streamers: catalog.listStreamers(),
    sessions: STREAMERS.map((streamer) => orGone(() => catalog.listSessions(streamer))),
    details: STREAMERS.map((streamer) => orGone(() => catalog.listDetails(streamer))),
    newest: STREAMERS.map((streamer) => orGone(() => catalog.newestSessions(streamer, 2))),
    rows: STREAMERS.flatMap((streamer) =>
      IDS.map((sessionId) =>
        orGone(() => catalog.findSession({ streamer, date: DATE, sessionId })),
      ),
    ),
  }
}

function orGone(ask: () => unknown): unknown {
  try {
    return ask()
  } catch (error) {
    if (isAppError(error, 'gone')) return 'gone'
    throw error
  }
}

function withDatabases(work: (writing: Database, reading: Database) => void): void {
  const path = join(makeTempFolder('kept-lists'), 'catalog.sqlite')
  const writing = openDatabase({ path, mode: 'write' })
  const reading = openDatabase({ path, mode: 'read' })
  try {
    work(writing, reading)
  } finally {
    writing.close()
    reading.close()
  }
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom<Step['kind'][]>(
    ...(['put', 'put', 'put', 'play', 'play', 'title', 'fail', 'remove'] as const),
    ...(['hide', 'unhide', 'hideAll', 'unhideAll'] as const),
  ),
  streamer: fc.constantFrom(...STREAMERS),
  sessionId: fc.constantFrom(...IDS),
  ending: fc.constantFrom('.mp4', '.ts'),
  size: fc.nat(100),
})

test('after any sequence of changes, cached lists equal freshly read ones', () => {
  const story = fc.array(anyStep, { minLength: 20, maxLength: 60 })
  const property = fc.property(story, (taken) => {
    withDatabases((writing, reading) => {
      const life = {
        writer: new CatalogWriter(writing),
        hidden: createHiddenNames(writing),
      }
      const kept = createCatalog(reading)
      for (const step of taken) {
        readAll(kept)
        steps[step.kind](life, step)
      }
      expect(readAll(kept)).toEqual(readAll(createCatalog(reading)))
    })
  })
  fc.assert(property, { numRuns: 20 })
})

test('a change of one list leaves the others alone, and an equal list is reused', () => {
  withDatabases((writing, reading) => {
    const life = { writer: new CatalogWriter(writing), hidden: createHiddenNames(writing) }
    const step: Step = { kind: 'put', streamer: 'alice', sessionId: '1', ending: '.mp4', size: 5 }
    steps.put(life, step)
    steps.put(life, { ...step, streamer: 'bob' })
    const catalog = createCatalog(reading)
    const before = catalog.generation()
    const [streamers, alice, bob] = [catalog.listStreamers(), ...bothLists(catalog)]
    steps.play(life, step)
    expect(catalog.changedStreamers(before, catalog.generation())).toEqual(new Set(['alice']))
    expect(catalog.listStreamers()).toBe(streamers)
    expect(catalog.listSessions('bob')).toBe(bob)
    expect(alice).toEqual([{ date: DATE, sessionId: '1' }])
    expect(catalog.listSessions('alice')).toEqual([
      { date: DATE, sessionId: '1', duration: '0:00:05' },
    ])
  })
})

test('pages through listed sessions in the order of the database, hidden ones excepted', () => {
  withDatabases((writing, reading) => {
    const life = { writer: new CatalogWriter(writing), hidden: createHiddenNames(writing) }
    const step: Step = { kind: 'put', streamer: 'alice', sessionId: '1', ending: '.mp4', size: 5 }
    for (const sessionId of ['1', '2', '10', '11', '3']) steps.put(life, { ...step, sessionId })
    steps.hide(life, { ...step, sessionId: '11' })
    const catalog = createCatalog(reading)
    const ids = (after: string | undefined, limit: number) =>
      catalog
        .sessionsAfter(
          'alice',
          after === undefined ? after : { date: DATE, sessionId: after },
          limit,
        )
        .map(({ sessionId }) => sessionId)
    expect(ids(undefined, 2)).toEqual(['1', '10'])
    expect(ids('10', 2)).toEqual(['2', '3'])
    expect(ids('3', 2)).toEqual([])
    expect(catalog.hasStreamer('alice')).toBe(true)
    expect(catalog.hasStreamer('nobody')).toBe(false)
    steps.hideAll(life, step)
    expect(ids(undefined, 2)).toEqual([])
    expect(orGone(() => catalog.hasStreamer('alice'))).toBe('gone')
  })
})

test('the neighbours of a session, and a part of the list, are those in the list', () => {
  const dates = ['2026-01-30', '2026-01-31', '2026-02-01']
  const names = fc.record({
    date: fc.constantFrom(...dates),
    sessionId: fc.constantFrom(...IDS, 'a'),
    state: fc.constantFrom('shown', 'hidden', 'unplayable'),
  })
  const property = fc.property(fc.array(names, { maxLength: 12 }), (sessions) => {
    withDatabases((writing, reading) => {
      const life = { writer: new CatalogWriter(writing), hidden: createHiddenNames(writing) }
      const streamer = 'alice'
      for (const { date, sessionId, state } of sessions) {
        const found = [foundRecording({ streamer, date, sessionId })]
        life.writer.apply({ found, gone: [] })
        if (state === 'hidden') life.hidden.hide({ kind: 'session', streamer, date, sessionId })
        const id = life.writer.findPending({ streamer, date, sessionId })
        const job = id === undefined ? undefined : life.writer.readPending(id, NOW_MS)
        if (job === undefined || state !== 'unplayable') continue
        const outcome = { status: 'unplayable', reason: { code: 'encrypted' } } as const
        const context = { nowMs: NOW_MS, tookMs: 1, settlesAtMs: 0, attempts: 0 }
        life.writer.record([{ recording: job, result: planInspectionResult(outcome, context) }])
      }
      const catalog = createCatalog(reading)
      const list = catalog.listSessions(streamer) ?? []
      const found = list.map((session) => catalog.neighbours({ streamer, ...session }))
      const nameOf = ({ date, sessionId }: SessionName) => ({ date, sessionId })
      expect(found.map(({ next }) => next && nameOf(next))).toEqual(
        list.map((_, at) => list[at - 1]),
      )
      expect(found.map(({ previous }) => previous && nameOf(previous))).toEqual(
        list.map((_, at) => list[at + 1]),
      )
      expect(catalog.neighbours({ streamer: 'nobody', date: '', sessionId: '' })).toEqual({})
      expect(catalog.countSessions(streamer)).toBe(list.length)
      for (const offset of list.keys()) {
        const rows = catalog.sessionsAt(streamer, { offset, limit: 2 })
        expect(rows.map(nameOf)).toEqual(list.slice(offset, offset + 2).map(nameOf))
      }
      expect(catalog.sessionsAt(streamer, { offset: list.length, limit: 2 })).toEqual([])
    })
  })
  fc.assert(property, { numRuns: 20, seed: 14 })
})

const bothLists = (catalog: Catalog) => ['alice', 'bob'].map((name) => catalog.listSessions(name))

test('a reader that missed more generations than the log holds reloads everything', () => {
  withDatabases((writing, reading) => {
    const life = { writer: new CatalogWriter(writing), hidden: createHiddenNames(writing) }
    const catalog = createCatalog(reading)
    const before = catalog.generation()
    const step: Step = { kind: 'put', streamer: 'alice', sessionId: '1', ending: '.mp4', size: 1 }
    for (let size = 1; size <= 1200; size += 1) steps.put(life, { ...step, size })
    expect(catalog.changedStreamers(before, catalog.generation())).toBe('all')
    const recent = catalog.generation() - 900
    expect(catalog.changedStreamers(recent, catalog.generation())).toEqual(new Set(['alice']))
  })
})

// What is logged of hidden names, compared with a list of all changes.
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { CatalogWriter } from './catalog-writer.ts'
import type { Database } from './database.ts'
import { createLoggedNames, datesBefore, lastRun } from './hide-log.ts'
import type { HideLogEntry } from './hide-log.ts'
import { rowOf } from './hidden.ts'
import type { HiddenName } from './hidden.ts'
import { createTempCatalog, foundRecording } from '../../../../test/support/temp-catalog.ts'

let database: Database

beforeEach(() => {
  ;({ database } = createTempCatalog('hide-log'))
})

const session = (streamer: string, date: string, sessionId: string) => ({
  kind: 'session' as const,
  streamer,
  date,
  sessionId,
})

function record(...sessions: { streamer: string; date: string; sessionId: string }[]): void {
  const found = sessions.map((each) => foundRecording(each))
  new CatalogWriter(database).apply({ found, gone: [] })
}

test('logs what changed, with time and reason, and nothing else', () => {
  let nowMs = 0
  const names = createLoggedNames(database, () => nowMs)
  const change = fc.record({
    action: fc.constantFrom('hide', 'unhide'),
    name: fc.constantFrom<HiddenName>(
      { kind: 'streamer', streamer: 'alice' },
      session('alice', '2026-01-31', '1'),
      session('bob', '2026-01-31', '1'),
      { kind: 'chat-user', user: 'eve' },
      { kind: 'chat-user', user: 'eve', streamer: 'alice' },
    ),
    reason: fc.constantFrom('', 'a takedown'),
    laterMs: fc.nat(2),
  })
  /** All changes of all runs. */
  const log: HideLogEntry[] = []
  const hidden = new Set<HiddenName>()
  fc.assert(
    fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
      for (const { action, name, reason, laterMs } of changes) {
        nowMs += laterMs
        const isHidden = hidden.has(name)
        const changes = action === 'hide' ? !isHidden : isHidden
        expect(names[action](name, reason)).toBe(changes)
        if (!changes) continue
        if (action === 'hide') hidden.add(name)
        else hidden.delete(name)
        log.push({ atMs: nowMs, action, ...rowOf(name), reason })
      }
      expect(names.log()).toEqual(log)
      expect(new Set(names.list())).toEqual(hidden)
    }),
    { numRuns: 25, endOnFailure: true },
  )
})

describe('lastRun()', () => {
  const entry = (atMs: number, action: HideLogEntry['action'], sessionId: string) => ({
    ...session('alice', sessionId === '' ? '' : '2026-01-31', sessionId),
    atMs,
    action,
    reason: '',
  })

  test('is what was hidden last at one time, and is hidden still', () => {
    const log = [
      entry(1, 'hide', '1'),
      entry(1, 'hide', '2'),
      entry(2, 'hide', '3'),
      entry(2, 'hide', ''),
      entry(2, 'hide', '4'),
      entry(3, 'unhide', '3'),
    ]
    const four = session('alice', '2026-01-31', '4')
    expect(lastRun(log)).toEqual([{ kind: 'streamer', streamer: 'alice' }, four])
    const shown = [...log, entry(4, 'unhide', '4'), entry(5, 'unhide', '')]
    expect(lastRun(shown)).toEqual([
      session('alice', '2026-01-31', '1'),
      session('alice', '2026-01-31', '2'),
    ])
    expect(lastRun([])).toEqual([])
  })

  test('is the last one also after the clock was set back', () => {
    const log = [entry(9, 'hide', '1'), entry(2, 'hide', '2'), entry(2, 'hide', '3')]
    const [two, three] = ['2', '3'].map((id) => session('alice', '2026-01-31', id))
    expect(lastRun(log)).toEqual([two, three])
  })

  test('distinguishes sessions by streamer and date', () => {
    const other = { ...entry(1, 'unhide', '1'), date: '2026-02-01' }
    const another = { ...entry(1, 'unhide', '1'), streamer: 'bob' }
    expect(lastRun([entry(1, 'hide', '1'), other, another])).toHaveLength(1)
  })
})

test('before() lists old sessions in order, without those hidden by their own name', () => {
  record(
    session('bob', '20260130', '2'),
    session('bob', '20260130', '1'),
    session('alice', '2026-01-30', '1'),
    session('alice', '2026-01-29_20-15', '1'),
    session('alice', '2026-01-31', '1'),
    session('alice', 'someday', '1'),
  )
  const names = createLoggedNames(database, () => 0)
  const old = () =>
    names.before('2026-01-31').map(({ streamer, date, sessionId }) => [streamer, date, sessionId])
  const all = [
    ['alice', '2026-01-29_20-15', '1'],
    ['alice', '2026-01-30', '1'],
    ['bob', '20260130', '1'],
    ['bob', '20260130', '2'],
  ]
  expect(old()).toEqual(all)
  names.hide({ kind: 'streamer', streamer: 'alice' }, '')
  expect(old()).toEqual(all)
  names.hide(session('alice', '2026-01-30', '1'), '')
  names.hide(session('bob', '20260130', '1'), '')
  expect(old()).toEqual([all[0], all[3]])
})

test('datesBefore() compares days, and takes no date without a day', () => {
  const dates = ['2026-01-30', '2026-01-31', '20260130_2015', '2026-02-30', 'x', '']
  expect(datesBefore(dates, '2026-01-31')).toEqual(['2026-01-30', '20260130_2015'])
})

test('known() lists the streamer’s listed sessions, or else all streamers', () => {
  record(session('alice', '2026-01-31', '1'), session('alice', '2026-01-30', '2'))
  record(session('bob', '2026-01-31', '3'))
  const names = createLoggedNames(database, () => 0)
  const streamers = ['alice', 'bob'].map((streamer) => ({ kind: 'streamer', streamer }))
  expect(new Set(names.known(session('alice', '2026-01-31', 'x')))).toEqual(
    new Set([session('alice', '2026-01-31', '1'), session('alice', '2026-01-30', '2')]),
  )
  expect(names.known(session('carol', '2026-01-31', '1'))).toEqual(streamers)
  expect(names.known({ kind: 'streamer', streamer: 'alcie' })).toEqual(streamers)
  names.hide(session('alice', '2026-01-31', '1'), '')
  expect(names.known(session('alice', '2026-01-31', 'x'))).toHaveLength(1)
  expect(names.isKnown(session('alice', '2026-01-31', '1'))).toBe(true)
  expect(names.isKnown(session('alice', '2026-01-31', '9'))).toBe(false)
})

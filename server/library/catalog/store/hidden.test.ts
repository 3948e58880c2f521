// What is taken off the site by name: out of lists and look-ups at once, whatever the scanner finds
// later.
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import { isAppError } from '../../../base/errors.ts'
import { CatalogWriter } from './catalog-writer.ts'
import type { Catalog } from '../catalog.ts'
import { openDatabase } from './database.ts'
import type { Database } from './database.ts'
import { createHiddenNames } from './hidden.ts'
import type { HiddenNames } from './hidden.ts'
import { createLayout } from '../names/layout.ts'
import { Scanner } from '../scan/scan.ts'
import { createTempCatalog, foundRecording } from '../../../../test/support/temp-catalog.ts'
import type { TempCatalog } from '../../../../test/support/temp-catalog.ts'

let root: string
let put: TempCatalog['put']
let server: Database
let command: Database
let catalog: Catalog
let names: HiddenNames

/** The command is another process in life: here another connection. */
beforeEach(() => {
  const temp = createTempCatalog('hidden')
  ;({ root, put, database: server, catalog } = temp)
  command = openDatabase({ path: temp.file, mode: 'write' })
  names = createHiddenNames(command)
})

afterEach(() => {
  command.close()
})

async function scan(layout = '{streamer}/{date}/{sessionId}'): Promise<void> {
  const scanner = new Scanner({
    storage: new FolderStorage(root),
    layout: createLayout(layout),
    writer: new CatalogWriter(server),
    settleSeconds: 0,
    inspect: async () => ({ status: 'playable', durationSeconds: 1, isFlawed: false }),
  })
  await scanner.scanOnce(new AbortController().signal)
}

const counts = () =>
  catalog.listStreamers().map(({ name, recording_count: count }) => `${name} ${count}`)
const sessionOf = (streamer: string, sessionId = '1') => ({
  streamer,
  date: '2026-01-31',
  sessionId,
})
const gone = expect.objectContaining({ code: 'gone' })

test('a hidden session is in no list or count, and a lookup throws gone', async () => {
  put('alice/2026-01-31/1.ts')
  put('alice/2026-01-31/2.ts')
  await scan()
  expect(catalog.findSession(sessionOf('alice'))).toBeDefined()
  expect(catalog.listSessions('alice')).toHaveLength(2)
  expect(names.hide({ kind: 'session', ...sessionOf('alice') })).toBe(true)
  expect(counts()).toEqual(['alice 1'])
  expect(catalog.listSessions('alice')?.map(({ sessionId }) => sessionId)).toEqual(['2'])
  expect(catalog.newestSessions('alice', 9).map(({ sessionId }) => sessionId)).toEqual(['2'])
  expect(() => catalog.findSession(sessionOf('alice'))).toThrow(gone)
  expect(catalog.findSession(sessionOf('alice', '2'))).toBeDefined()
  expect(names.unhide({ kind: 'session', ...sessionOf('alice') })).toBe(true)
  expect(counts()).toEqual(['alice 2'])
  expect(catalog.findSession(sessionOf('alice'))?.state.status).toBe('playable')
})

test('a hidden streamer is in no list, and all of its sessions are gone', async () => {
  put('alice/2026-01-31/1.ts')
  put('bob/2026-01-31/1.ts')
  await scan()
  expect(catalog.listSessions('alice')).toHaveLength(1)
  names.hide({ kind: 'streamer', streamer: 'alice' })
  expect(counts()).toEqual(['bob 1'])
  for (const ask of [
    () => catalog.listSessions('alice'),
    () => catalog.newestSessions('alice', 1),
    () => catalog.findSession(sessionOf('alice')),
    () => catalog.findSession(sessionOf('alice', 'never there')),
  ]) {
    expect(ask).toThrow(gone)
  }
  expect(catalog.listSessions('bob')).toHaveLength(1)
  names.unhide({ kind: 'streamer', streamer: 'alice' })
  expect(counts()).toEqual(['alice 1', 'bob 1'])
})

test('a hidden name covers later recordings, and survives another layout', async () => {
  names.hide({ kind: 'session', ...sessionOf('alice') })
  names.hide({ kind: 'streamer', streamer: 'bob' })
  put('alice/2026-01-31/1.ts')
  put('alice/2026-01-31/2.ts')
  put('bob/2026-01-31/1.ts')
  await scan()
  expect(counts()).toEqual(['alice 1'])
  put('alice/2026-01-31/1.mp4')
  await scan()
  expect(counts()).toEqual(['alice 1'])
  await scan('*/{date}/{streamer}')
  await scan()
  expect(counts()).toEqual(['alice 1'])
  expect(() => catalog.findSession(sessionOf('alice'))).toThrow(gone)
})

test('a name is hidden while a catalog of another layout is emptied', () => {
  const writer = new CatalogWriter(server)
  writer.useLayout('1')
  const found = Array.from({ length: 2500 }, (_, at) =>
    foundRecording({ streamer: 'alice', date: String(at), sessionId: '1' }),
  )
  writer.apply({ found, gone: [] })
  expect(writer.useLayout('2')).toBe(false)
  expect(names.hide({ kind: 'streamer', streamer: 'alice' })).toBe(true)
  let calls = 1
  while (!writer.useLayout('2')) calls += 1
  // Rows of recordings, and of 2502 folders.
  expect(calls).toBe(5)
  expect(writer.readFolder('')).toEqual({ recordings: [], folders: [] })
  expect(names.list()).toEqual([{ kind: 'streamer', streamer: 'alice' }])
})

test('names are compared in NFC, sorted, and unhidden only by the same name', async () => {
  put('zoë/2026-01-31/1.ts'.normalize('NFC'))
  await scan()
  const session = { kind: 'session', ...sessionOf('zoë'.normalize('NFD')) } as const
  expect(names.isKnown(session)).toBe(true)
  expect(names.hide(session)).toBe(true)
  expect(names.hide(session)).toBe(false)
  expect(counts()).toEqual([])
  expect(names.unhide({ kind: 'streamer', streamer: 'zoë' })).toBe(false)
  expect(names.isKnown({ kind: 'streamer', streamer: 'carol' })).toBe(false)
  names.hide({ kind: 'streamer', streamer: 'carol' })
  expect(names.list()).toEqual([
    { kind: 'streamer', streamer: 'carol' },
    { kind: 'session', ...sessionOf('zoë'.normalize('NFC')) },
  ])
  expect(counts()).toEqual([])
})

test('after any changes, exactly the hidden names are hidden', async () => {
  const STREAMERS = ['alice', 'zoë']
  const IDS = ['1', '2']
  for (const streamer of STREAMERS) for (const id of IDS) put(`${streamer}/2026-01-31/${id}.ts`)
  await scan()
  const change = fc.record({
    action: fc.constantFrom('hide', 'unhide'),
    kind: fc.constantFrom('streamer', 'session'),
    streamer: fc.constantFrom(...STREAMERS, 'nobody'),
    sessionId: fc.constantFrom(...IDS, '3'),
    form: fc.constantFrom('NFC', 'NFD'),
  })
  /** Hidden names, as `streamer` or `streamer/id`: the same in all runs. */
  const hidden = new Set<string>()
  const isGone = (streamer: string, id: string) =>
    hidden.has(streamer) || hidden.has(`${streamer}/${id}`)
  const orGone = <Value>(ask: () => Value) => {
    try {
      return ask()
    } catch (error) {
      if (isAppError(error, 'gone')) return 'gone'
      throw error
    }
  }
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), (changes) => {
      for (const { action, kind, streamer, sessionId, form } of changes) {
        const key = kind === 'streamer' ? streamer : `${streamer}/${sessionId}`
        const changed = names[action]({ kind, ...sessionOf(streamer.normalize(form), sessionId) })
        expect(changed).toBe(action === 'hide' ? !hidden.has(key) : hidden.has(key))
        if (action === 'hide') hidden.add(key)
        else hidden.delete(key)
      }
      expect(names.list()).toEqual(
        [...hidden].toSorted().map((key) => {
          const [streamer = '', sessionId] = key.split('/')
          return sessionId === undefined
            ? { kind: 'streamer', streamer }
            : { kind: 'session', ...sessionOf(streamer, sessionId) }
        }),
      )
      for (const streamer of STREAMERS) {
        const shown = IDS.filter((id) => !isGone(streamer, id))
        const listed = orGone(() => catalog.listSessions(streamer) ?? [])
        expect(listed === 'gone' ? listed : listed.map((each) => each.sessionId)).toEqual(
          hidden.has(streamer) ? 'gone' : shown.toReversed(),
        )
        for (const id of [...IDS, '3']) {
          const found = orGone(() => catalog.findSession(sessionOf(streamer, id))?.sessionId)
          expect(found).toBe(isGone(streamer, id) ? 'gone' : id === '3' ? undefined : id)
        }
      }
      expect(counts()).toEqual(
        STREAMERS.map((streamer) => [streamer, IDS.filter((id) => !isGone(streamer, id)).length])
          .filter(([, count]) => count !== 0)
          .map(([streamer, count]) => `${streamer} ${count}`),
      )
    }),
    { numRuns: 30, endOnFailure: true },
  )
})

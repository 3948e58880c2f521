// The newest sessions of all streamers: their order, and that a large library does not slow them.
import Sqlite from 'better-sqlite3'
import { beforeEach, expect, test } from 'vitest'
import { CatalogWriter } from './catalog-writer.ts'
import type { Database } from './database.ts'
import { createHiddenNames } from './hidden.ts'
import { createCatalog } from './sqlite-catalog.ts'
import { createTempCatalog, foundRecording } from '../../../../test/support/temp-catalog.ts'

let file: string
let database: Database

beforeEach(() => {
  ;({ file, database } = createTempCatalog('newest'))
})

/** A session `streamer/date/id` whose file was written at this time. */
function add(name: string, modifiedMs: number): void {
  const [streamer = '', date = '', sessionId = ''] = name.split('/')
  const found = [foundRecording({ streamer, date, sessionId }, modifiedMs)]
  new CatalogWriter(database).apply({ found, gone: [] })
}

const newest = (limit: number): string[] =>
  createCatalog(database)
    .newestOfSite(limit)
    .map(({ streamer, date, sessionId }) => `${streamer}/${date}/${sessionId}`)

test('are sorted by date, then by the time of the file, then by names', () => {
  add('bob/2026-01-31/1', 10)
  add('alice/2026-01-31/1', 10)
  add('alice/2026-01-31/2', 20)
  add('carol/2026-02-01/1', 5)
  add('carol/2026-01-30/9', 90)
  const sorted = [
    'carol/2026-02-01/1',
    'alice/2026-01-31/2',
    'alice/2026-01-31/1',
    'bob/2026-01-31/1',
    'carol/2026-01-30/9',
  ]
  expect(newest(9)).toEqual(sorted)
  expect(newest(3)).toEqual(sorted.slice(0, 3))
})

test('contain neither hidden sessions nor those of hidden streamers', () => {
  for (const name of ['alice/2026-01-31/1', 'alice/2026-01-31/2', 'bob/2026-01-31/1']) add(name, 1)
  const hidden = createHiddenNames(database)
  hidden.hide({ kind: 'session', streamer: 'alice', date: '2026-01-31', sessionId: '1' })
  expect(newest(9)).toEqual(['alice/2026-01-31/2', 'bob/2026-01-31/1'])
  hidden.hide({ kind: 'streamer', streamer: 'bob' })
  expect(newest(9)).toEqual(['alice/2026-01-31/2'])
})

test('are read from an index, without sorting the library', () => {
  const sqlite = new Sqlite(file, { readonly: true })
  const plan = sqlite
    .prepare(
      `EXPLAIN QUERY PLAN SELECT streamers.name FROM recordings
       JOIN streamers ON streamers.id = recordings.streamer_id
       JOIN folders ON folders.id = recordings.folder_id
       WHERE recordings.listed = 1 AND recording_count > 0
       ORDER BY recordings.date DESC, recordings.modified_ms DESC, streamers.name,
         recordings.session_id LIMIT 50`,
    )
    .all()
  sqlite.close()
  const [first] = plan
  expect(first).toMatchObject({ detail: 'SCAN recordings USING INDEX recordings_newest' })
  expect(plan.at(-1)).toMatchObject({ detail: expect.stringMatching(/FOR LAST 2 TERMS/) })
})

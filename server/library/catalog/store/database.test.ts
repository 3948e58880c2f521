// The catalog's database across processes, kills and corruption.
import Sqlite from 'better-sqlite3'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import { CatalogWriter } from './catalog-writer.ts'
import { openDatabase } from './database.ts'
import type { Inspection } from './inspection-result.ts'
import { createLayout } from '../names/layout.ts'
import { migrate } from './migrations.ts'
import { Replica } from './replica.ts'
import { Scanner } from '../scan/scan.ts'
import { createCatalog } from './sqlite-catalog.ts'
import { walkLibrary } from '../scan/walk.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'

/** Results of inspections that are written in one transaction, at most. */
const RESULTS_AT_ONCE = 100

let base: string
let path: string
let root: string

beforeEach(() => {
  base = makeTempFolder('database')
  path = join(base, 'data', 'catalog.sqlite')
  root = join(base, 'library')
})

function fill(streamers: number, dates: number, sessions: number): void {
  for (let streamer = 0; streamer < streamers; streamer += 1) {
    for (let day = 1; day <= dates; day += 1) {
      const folder = join(root, `s${streamer}`, `2026-01-${String(day).padStart(2, '0')}`)
      mkdirSync(folder, { recursive: true })
      for (let id = 0; id < sessions; id += 1) writeFileSync(join(folder, `${id}.ts`), 'x')
    }
  }
}

/** Scans as a separate program would; returns the number of listed recordings. */
async function scanHere(
  inspected: string[],
  result: Inspection = { status: 'playable', durationSeconds: 1, isFlawed: false },
): Promise<number> {
  const database = openDatabase({ path, mode: 'write' })
  try {
    const scanner = new Scanner({
      storage: new FolderStorage(root),
      layout: createLayout('{streamer}/{date}/{sessionId}'),
      writer: new CatalogWriter(database),
      settleSeconds: 0,
      inspect: async ({ path: recording }) => {
        inspected.push(recording)
        return result
      },
    })
    await scanner.scanOnce(new AbortController().signal)
    return createCatalog(database)
      .listStreamers()
      .reduce((sum, { recording_count: count }) => sum + count, 0)
  } finally {
    database.close()
  }
}

const childProgram = (moduleUrl: (name: string) => string): string => `
  const { openDatabase } = await import(${JSON.stringify(moduleUrl('./database.ts'))})
  const { CatalogWriter } = await import(${JSON.stringify(moduleUrl('./catalog-writer.ts'))})
  const { createLayout } = await import(${JSON.stringify(moduleUrl('../names/layout.ts'))})
  const { Scanner } = await import(${JSON.stringify(moduleUrl('../scan/scan.ts'))})
  const { FolderStorage } = await import(${JSON.stringify(moduleUrl('../../../storage/recordings/folder/folder-storage.ts'))})
  const { appendFileSync } = await import('node:fs')
  const [path, root, log] = process.argv.slice(-3)
  process.stdout.write('ready\\n')
  const inspect = async (recording) => {
    appendFileSync(log, recording.path + '\\n')
    return { status: 'playable', durationSeconds: 1, isFlawed: false }
  }
  const database = openDatabase({ path, mode: 'write' })
  const layout = createLayout('{streamer}/{date}/{sessionId}')
  const writer = new CatalogWriter(database)
  const storage = new FolderStorage(root)
  const scanner = new Scanner({ storage, layout, writer, inspect, settleSeconds: 0 })
  await scanner.scanOnce(new AbortController().signal)
`

test('a scan that is killed at any time loses nothing, and the next one continues', async () => {
  fill(15, 10, 10)
  const program = childProgram((name) => new URL(name, import.meta.url).href)
  // a file, as a pipe's buffer dies with the process
  const log = join(base, 'inspected.txt')
  writeFileSync(log, '')
  const inspections = () => readFileSync(log, 'utf8').split('\n').slice(0, -1)
  const walkMoments = [0, 20, 60, 120].map((ms) => () => sleep(ms * (1 + Math.random())))
  const inspectionMoments = [1, 100, 450].map((count) => async (hasEnded: () => boolean) => {
    while (!hasEnded() && inspections().length < count) await sleep(1)
  })
  for (const moment of [...walkMoments, ...inspectionMoments]) {
    const child = spawn(
      process.execPath,
      ['--input-type=module-typescript', '-e', program, path, root, log],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const closed = once(child, 'close')
    await Promise.race([once(child.stdout, 'data'), closed])
    await moment(() => child.exitCode !== null)
    child.kill('SIGKILL')
    await closed
  }
  const inspected: string[] = []
  expect(await scanHere(inspected)).toBe(1500)
  expect(inspections().length).toBeGreaterThanOrEqual(450)
  const all = [...inspections(), ...inspected]
  expect(new Set(all).size).toBe(1500)
  // a kill may come before the results of the last inspections are written: those are repeated, and
  // the one under way
  expect(all.length - 1500).toBeLessThanOrEqual(7 * (RESULTS_AT_ONCE + 1))
  const sqlite = new Sqlite(path, { readonly: true })
  expect(sqlite.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(sqlite.pragma('foreign_key_check')).toEqual([])
  sqlite.close()
})

test('five thousand recordings are walked, and walked again without a change', async () => {
  fill(25, 2, 100)
  const database = openDatabase({ path, mode: 'write' })
  const writer = new CatalogWriter(database)
  const options = {
    storage: new FolderStorage(root),
    layout: createLayout('{streamer}/{date}/{sessionId}'),
    writer,
    settleMs: 0,
    mayBeEmpty: true,
    now: Date.now,
    onFolderError: expect.unreachable,
  }
  const { signal } = new AbortController()
  expect(await walkLibrary('', options, signal)).toBe(true)
  expect(writer.countPending()).toBe(5000)
  expect(await walkLibrary('', options, signal)).toBe(false)
  rmSync(root, { recursive: true })
  mkdirSync(root)
  expect(await walkLibrary('', { ...options, storage: new FolderStorage(root) }, signal)).toBe(true)
  expect(writer.countRecordings()).toBe(0)
  expect(createCatalog(database).listStreamers()).toEqual([])
  database.close()
})

test('a reader beside the writer notices changes by the generation', async () => {
  fill(1, 1, 1)
  await scanHere([])
  const reading = openDatabase({ path, mode: 'read' })
  const catalog = createCatalog(reading)
  const before = catalog.generation()
  expect(catalog.listStreamers()).toEqual([{ name: 's0', recording_count: 1 }])
  fill(2, 1, 1)
  await scanHere([])
  expect(catalog.generation()).not.toBe(before)
  expect(catalog.listStreamers()).toHaveLength(2)
  reading.close()
})

test('a catalog of the first version keeps playable recordings only', async () => {
  fill(1, 1, 2)
  mkdirSync(join(base, 'data'))
  const old = new Sqlite(path)
  migrate(old, 1)
  old.exec(`
    UPDATE library SET layout = '{streamer}/{date}/{sessionId}';
    INSERT INTO streamers VALUES (1, 's0', 1);
    INSERT INTO folders VALUES (1, NULL, ''), (2, 1, 's0'), (3, 2, 's0/2026-01-01')`)
  const put = old.prepare(`INSERT INTO recordings VALUES
    (?, 3, ?, 1, '2026-01-01', ?, 3, 1, ?, ?, ?, ?, ?, 0, 0, 0, 0)`)
  const modifiedMs = (id: string) =>
    Math.floor(statSync(join(root, 's0/2026-01-01', `${id}.ts`)).mtimeMs)
  put.run(1, '0.ts', '0', modifiedMs('0'), 'playable', 60, null, 1)
  put.run(2, '1.ts', '1', modifiedMs('1'), 'unplayable', null, 'not played yet', 0)
  old.close()
  const inspected: string[] = []
  expect(await scanHere(inspected)).toBe(2)
  expect(inspected).toEqual(['s0/2026-01-01/1.ts'])
})

test('the fourth migration keeps every row and constraint', async () => {
  fill(2, 1, 2)
  mkdirSync(join(base, 'data'))
  const old = new Sqlite(path)
  migrate(old, 3)
  old.exec(`
    UPDATE library SET layout = '{streamer}/{date}/{sessionId}';
    INSERT INTO streamers VALUES (1, 's0', 2);
    INSERT INTO folders VALUES (1, NULL, ''), (2, 1, 's0'), (3, 2, 's0/2026-01-01')`)
  const columns = `id, folder_id, name, streamer_id, date, session_id, rank, size_bytes, modified_ms, status,
    duration_seconds, reason, listed, settles_at_ms, retry_at_ms, rest_until_ms, attempts, kind, flawed`
  const put = old.prepare(`INSERT INTO recordings (${columns}) VALUES
    (?, 3, ?, 1, '2026-01-01', ?, 3, 1, 5, ?, ?, ?, 1, 6, 7, 8, 9, ?, 1)`)
  put.run(1, '0.ts', '0', 'playable', 60, null, 'file')
  put.run(2, '1', '1', 'unplayable', null, 'not played', 'folder')
  put.run(4, '2.ts', '2', 'found', null, null, 'file')
  const rowsOf = (sqlite: Sqlite.Database) =>
    sqlite.prepare(`SELECT ${columns} FROM recordings`).all()
  const before = rowsOf(old)
  old.close()
  const now = new Sqlite(path)
  migrate(now, 4)
  expect(rowsOf(now)).toEqual(before)
  expect(now.pragma('foreign_key_check')).toEqual([])
  const indexes = now.prepare(
    `SELECT name FROM sqlite_schema WHERE name LIKE 'recordings\\_%' ESCAPE '\\'`,
  )
  expect(indexes.pluck().all()).toEqual(['recordings_by_session', 'recordings_pending'])
  for (const wrong of [
    `status = 'other'`,
    `kind = 'other'`,
    `reason = 'x'`,
    `duration_seconds = 1`,
  ]) {
    const change = () => now.exec(`UPDATE recordings SET ${wrong} WHERE id = 4`)
    expect(change, wrong).toThrow('CHECK constraint failed')
  }
  now.close()
  expect(await scanHere([])).toBe(4)
})

test('a catalog with reasons as text inspects these recordings again', async () => {
  fill(1, 1, 2)
  mkdirSync(join(base, 'data'))
  const old = new Sqlite(path)
  migrate(old, 4)
  old.exec(`
    UPDATE library SET layout = '{streamer}/{date}/{sessionId}';
    INSERT INTO streamers VALUES (1, 's0', 1);
    INSERT INTO folders VALUES (1, NULL, ''), (2, 1, 's0'), (3, 2, 's0/2026-01-01')`)
  const put = old.prepare(`INSERT INTO recordings VALUES
    (?, 3, ?, 1, '2026-01-01', ?, 'file', 3, 1, ?, ?, ?, ?, 0, ?, 0, 0, 0, 0)`)
  const modifiedMs = (id: string) =>
    Math.floor(statSync(join(root, 's0/2026-01-01', `${id}.ts`)).mtimeMs)
  put.run(1, '0.ts', '0', modifiedMs('0'), 'playable', 60, null, 1)
  put.run(2, '1.ts', '1', modifiedMs('1'), 'unplayable', null, 'the video has no key frame', 0)
  old.close()
  const inspected: string[] = []
  const reason = { code: 'key-frame-missing' } as const
  expect(await scanHere(inspected, { status: 'unplayable', reason })).toBe(1)
  expect(inspected).toEqual(['s0/2026-01-01/1.ts'])
  // The walk has added the version of the other one, so a change of it is noticed.
  const { mtime } = statSync(join(root, 's0/2026-01-01/0.ts'))
  utimesSync(join(root, 's0/2026-01-01/0.ts'), mtime, mtime)
  expect(await scanHere(inspected)).toBe(1)
  expect(inspected.at(-1)).toBe('s0/2026-01-01/0.ts')
  const reading = openDatabase({ path, mode: 'read' })
  const session = { streamer: 's0', date: '2026-01-01', sessionId: '1' }
  expect(createCatalog(reading).findSession(session)?.state).toEqual({
    status: 'unplayable',
    reason,
  })
  reading.close()
})

test('titles of an earlier catalog stay, and a replica compares its rows', () => {
  mkdirSync(join(base, 'data'))
  const old = new Sqlite(path)
  migrate(old, 13)
  old.exec(`
    INSERT INTO streamers VALUES (1, 's0', 2);
    INSERT INTO folders VALUES (1, NULL, ''), (2, 1, 's0');
    INSERT INTO replica VALUES (1, 'node', 'identity', 'epoch', 7)`)
  const columns = `folder_id, streamer_id, date, kind, rank, size_bytes, modified_ms, status, flawed,
    listed, settles_at_ms, retry_at_ms, rest_until_ms, attempts`
  const put = old.prepare(`
    INSERT INTO recordings (${columns}, name, session_id, title, starts_at_ms)
    VALUES (2, 1, '2026-01-01', 'file', 0, 1, 1, 'found', 0, 1, 0, 0, 0, 0, ?, ?, ?, ?)`)
  put.run('1.ts', '1', 'Zoë "1"', 1_769_817_600_000)
  put.run('2.ts', '2', null, null)
  old.close()
  const database = openDatabase({ path, mode: 'write', replica: 'follow' })
  expect(createCatalog(database).listDetails('s0')).toEqual([
    { date: '2026-01-01', sessionId: '2', settlesAtMs: 0 },
    {
      date: '2026-01-01',
      sessionId: '1',
      settlesAtMs: 0,
      title: 'Zoë "1"',
      startMs: 1_769_817_600_000,
    },
  ])
  expect(new Replica(database).state()).toMatchObject({ generation: 7, epoch: '' })
  database.close()
})

test('a reader requires a migrated catalog', () => {
  expect(() => openDatabase({ path, mode: 'read' })).toThrow('cannot be opened')
  mkdirSync(join(base, 'data'))
  new Sqlite(path).exec('CREATE TABLE migrations (number INTEGER PRIMARY KEY)').close()
  expect(() => openDatabase({ path, mode: 'read' })).toThrow('not migrated')
})

describe('a catalog of an older release', () => {
  let older: Buffer

  beforeEach(() => {
    mkdirSync(join(base, 'data'))
    const sqlite = new Sqlite(path)
    migrate(sqlite, 3)
    sqlite.exec(`INSERT INTO hidden VALUES ('alice', '', '')`).close()
    older = readFileSync(path)
  })

  const countSteps = (file: string): unknown => {
    const sqlite = new Sqlite(file, { readonly: true })
    const step = sqlite.prepare('SELECT max(number) FROM migrations').pluck().get()
    expect(sqlite.prepare('SELECT streamer FROM hidden').pluck().all()).toEqual(['alice'])
    sqlite.close()
    return step
  }

  test('is copied before its migration; two copies stay', () => {
    for (const step of [2, 3]) writeFileSync(`${path}.before-${step}`, '')
    // Of a copy that was interrupted.
    writeFileSync(`${path}.before-4.tmp`, 'x')
    const copies: string[] = []
    openDatabase({ path, mode: 'write', onCopied: (copy) => copies.push(copy) }).close()
    expect(copies).toEqual([`${path}.before-4`])
    expect(countSteps(`${path}.before-4`)).toBe(3)
    expect(countSteps(path)).toBeGreaterThan(3)
    const names = ['catalog.sqlite', 'catalog.sqlite.before-3', 'catalog.sqlite.before-4']
    expect(readdirSync(join(base, 'data')).filter((name) => !/-(?:wal|shm)$/.test(name))).toEqual(
      names,
    )
    openDatabase({ path, mode: 'write', onCopied: (copy) => copies.push(copy) }).close()
    expect(copies).toHaveLength(1)
  })

  test('is not migrated without room for the copy', () => {
    const freeBytesOf = (): number => older.length * 2 - 1
    const open = () => openDatabase({ path, mode: 'write', freeBytesOf })
    expect(open).toThrow(/^data: to migrate the catalog, 1 MiB must be free in .*; nothing has cha/)
    expect(readFileSync(path)).toEqual(older)
    openDatabase({ path, mode: 'write', freeBytesOf: () => older.length * 2 }).close()
  })

  test('is not migrated if the copy cannot be written', () => {
    mkdirSync(`${path}.before-4`)
    expect(() => openDatabase({ path, mode: 'write' })).toThrow('so nothing is migrated: ')
    expect(readFileSync(path)).toEqual(older)
    expect(readdirSync(join(base, 'data'))).toEqual(['catalog.sqlite', 'catalog.sqlite.before-4'])
  })
})

test('a file that is no database, or of a newer release, is rejected with a clear error', () => {
  openDatabase({ path, mode: 'write' }).close()
  openDatabase({ path, mode: 'write' }).close()
  new Sqlite(path).exec('INSERT INTO migrations VALUES (1000)').close()
  expect(() => openDatabase({ path, mode: 'write' })).toThrow('of a newer release: ')
  rmSync(join(base, 'data'), { recursive: true })
  mkdirSync(join(base, 'data'))
  writeFileSync(path, 'not a database '.repeat(100))
  expect(() => openDatabase({ path, mode: 'write' })).toThrow('cannot be opened')
})

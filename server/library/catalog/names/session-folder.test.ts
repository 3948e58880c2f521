// Folders as sessions: what makes a folder one recording, and when a change inside is seen.
import { appendFileSync, mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import type { Storage } from '../../../storage/recordings/storage.ts'
import { CatalogWriter } from '../store/catalog-writer.ts'
import type { Catalog } from '../catalog.ts'
import type { Database } from '../store/database.ts'
import type { InspectableRecording } from '../scan/inspector.ts'
import { createLayout } from './layout.ts'
import { Scanner } from '../scan/scan.ts'
import type { ScanPauses, ScannerOptions } from '../scan/scan.ts'
import { readSessionFolder } from './session-folder.ts'
import { patienceMs } from '../../../../test/support/patience.ts'
import { createTempCatalog } from '../../../../test/support/temp-catalog.ts'
import type { TempCatalog } from '../../../../test/support/temp-catalog.ts'

/** Nothing but a change starts a walk. */
const PATIENT: ScanPauses = {
  libraryRetryMs: patienceMs,
  catalogRetryMs: patienceMs,
  smallPollMs: patienceMs,
  largePollMs: patienceMs,
  watchRetryMs: patienceMs,
  watchStartMs: patienceMs,
}

let root: string
let database: Database
let catalog: Catalog
let write: TempCatalog['put']
let inspected: InspectableRecording[]

beforeEach(() => {
  ;({ root, database, catalog, put: write } = createTempCatalog('folders'))
  inspected = []
})

/** Plays everything, a second for each byte; `broken` in its first bytes cannot be played. */
function scanner(options: Partial<ScannerOptions> = {}): Scanner {
  return new Scanner({
    storage: new FolderStorage(root),
    layout: createLayout('{streamer}/{date}/{sessionId}'),
    writer: new CatalogWriter(database),
    settleSeconds: 30,
    inspect: async (recording) => {
      inspected.push(recording)
      if (recording.path.includes('broken'))
        return { status: 'unplayable', reason: { code: 'encrypted' } }
      return { status: 'playable', durationSeconds: recording.stat.sizeBytes, isFlawed: false }
    },
    ...options,
  })
}

async function scan(options: Partial<ScannerOptions> = {}): Promise<void> {
  await scanner(options).scanOnce(new AbortController().signal)
}

/** Writes a file of an age in seconds; returns its modification time in milliseconds. */
function put(path: string, content = 'x', ageSeconds = 3600): number {
  write(path, content)
  const seconds = Math.round(Date.now() / 1000) - ageSeconds
  utimesSync(join(root, path), seconds, seconds)
  return seconds * 1000
}

const night = { streamer: 'alice', date: '2026-02-01', sessionId: 'late-night' }
const nightPath = 'alice/2026-02-01/late-night'

describe('a folder with a session name', () => {
  test('is one session with the size of its parts and the time of the newest', async () => {
    put(`${nightPath}/part1.ts`, 'x'.repeat(40), 500)
    const newestMs = put(`${nightPath}/part2.ts`, 'x'.repeat(20), 400)
    put(`${nightPath}/chat.json`, 'x'.repeat(100), 1)
    put(`${nightPath}/.part3.ts`, 'x'.repeat(100), 1)
    put(`${nightPath}/inner/part4.ts`, 'x'.repeat(100), 1)
    await scan()
    expect(catalog.listSessions('alice')).toEqual([
      { date: night.date, sessionId: night.sessionId, duration: '0:01:00' },
    ])
    expect(catalog.findSession(night)).toMatchObject({
      kind: 'folder',
      path: nightPath,
      sizeBytes: 60,
      modifiedMs: newestMs,
    })
  })

  test('is no session if it is empty or contains neither parts nor a playlist', async () => {
    mkdirSync(join(root, nightPath), { recursive: true })
    put('alice/2026-02-01/notes/readme.txt')
    put('alice/2026-02-01/deeper/inner/part1.ts')
    put('alice/2026-02-01/no-bytes/part1.ts', '')
    await scan()
    expect(catalog.listStreamers()).toEqual([])
    expect(catalog.findSession(night)).toBeUndefined()
  })

  test('is identified by its playlist alone, without a stat of its segments', async () => {
    put(`${nightPath}/index.m3u8`, '#EXTM3U\n', 700)
    for (let i = 0; i < 50; i += 1) put(`${nightPath}/${i}.ts`, 'x'.repeat(10), 1)
    const folder = new FolderStorage(root)
    const withStats: string[] = []
    const list: Storage['list'] = async (path, options) => {
      if (options?.stats === true) withStats.push(path)
      return folder.list(path, options)
    }
    await scan({
      storage: {
        list,
        stat: async (path) => folder.stat(path),
        open: async (path) => folder.open(path),
        watch: async (onChange, signal) => folder.watch(onChange, signal),
      },
    })
    expect(catalog.findSession(night)).toMatchObject({ kind: 'folder', sizeBytes: 8 })
    expect(withStats).not.toContain(nightPath)
  })

  test('ranks after the files of its session, and is used if none of them plays', async () => {
    put(`${nightPath}/part1.ts`)
    put(`${nightPath}.flv`)
    await scan()
    expect(catalog.findSession(night)?.path).toBe(`${nightPath}.flv`)
    put('bob/2026-02-01/broken-night/part1.ts')
    put('bob/2026-02-01/broken-night.mp4')
    put('bob/2026-02-01/broken-night.ts')
    rmSync(join(root, `${nightPath}.flv`))
    await scan()
    expect(catalog.findSession(night)?.path).toBe(nightPath)
    expect(catalog.listStreamers()).toEqual([{ name: 'alice', recording_count: 1 }])
  })

  test('is inspected again when a part is added, grows or disappears, and not before', async () => {
    put(`${nightPath}/part1.ts`)
    await scan()
    await scan()
    expect(inspected).toHaveLength(1)
    put(`${nightPath}/part2.ts`)
    await scan()
    expect(inspected.at(-1)?.stat.sizeBytes).toBe(2)
    appendFileSync(join(root, nightPath, 'part1.ts'), 'x')
    await scan()
    expect(catalog.findSession(night)).toMatchObject({ sizeBytes: 3 })
    rmSync(join(root, nightPath, 'part1.ts'))
    await scan()
    expect(catalog.findSession(night)).toMatchObject({ sizeBytes: 1 })
    rmSync(join(root, nightPath), { recursive: true })
    await scan()
    expect(catalog.findSession(night)).toBeUndefined()
  })
})

describe('temporary names', () => {
  const session = { streamer: 'alice', date: '2026-02-01', sessionId: 'show' }

  test('belong to the session of the final name, and give way to it', async () => {
    put('alice/2026-02-01/show.mp4.part', 'xx')
    await scan()
    expect(catalog.findSession(session)).toMatchObject({ sizeBytes: 2, kind: 'file' })
    renameSync(
      join(root, 'alice/2026-02-01/show.mp4.part'),
      join(root, 'alice/2026-02-01/show.mp4'),
    )
    await scan()
    expect(catalog.findSession(session)?.path).toBe('alice/2026-02-01/show.mp4')
    put('alice/2026-02-01/show.tmp.ts', 'xxx')
    await scan()
    expect(catalog.findSession(session)?.path).toBe('alice/2026-02-01/show.mp4')
    expect(catalog.listSessions('alice')).toHaveLength(1)
  })

  test('a file is listed once it has bytes, and not before', async () => {
    put('alice/2026-02-01/show.ts', '', 1)
    await scan()
    expect(catalog.listStreamers()).toEqual([])
    expect(inspected).toEqual([])
    expect(catalog.findSession(session)?.state).toEqual({
      status: 'unplayable',
      reason: { code: 'file-empty' },
    })
    put('alice/2026-02-01/show.ts', 'xx', 1)
    await scan()
    expect(catalog.listSessions('alice')?.[0]?.duration).toBe('0:00:02')
  })
})

describe('while the scanner runs', () => {
  let stop: AbortController
  let running: Promise<void>

  afterEach(async () => {
    stop.abort()
    await running
  })

  const lengths = () => catalog.listSessions('alice')?.map(({ duration }) => duration)

  test('shows changes inside a session folder, and reads only that folder', async () => {
    put(`${nightPath}/part1.ts`)
    put('alice/2026-02-01/other/part1.ts', 'x'.repeat(30))
    const folder = new FolderStorage(root)
    const listed: string[] = []
    stop = new AbortController()
    const one = scanner({
      pauses: PATIENT,
      storage: {
        list: async (path, options) => {
          listed.push(path)
          return folder.list(path, options)
        },
        stat: async (path) => folder.stat(path),
        open: async (path) => folder.open(path),
        watch: async (onChange, signal) => folder.watch(onChange, signal),
      },
    })
    running = one.run(stop.signal)
    await one.firstWalk
    await expect.poll(lengths).toEqual(['0:00:30', '0:00:01'])
    listed.length = 0
    put(`${nightPath}/part2.ts`, 'xx', 100)
    await expect.poll(lengths).toEqual(['0:00:30', '0:00:03'])
    appendFileSync(join(root, nightPath, 'part2.ts'), 'x')
    await expect.poll(lengths).toEqual(['0:00:30', '0:00:04'])
    rmSync(join(root, nightPath, 'part1.ts'))
    await expect.poll(lengths).toEqual(['0:00:30', '0:00:03'])
    expect(new Set(listed)).toEqual(new Set([nightPath]))
    renameSync(join(root, nightPath), join(root, 'alice/2026-02-01/renamed'))
    const names = () => catalog.listSessions('alice')?.map(({ sessionId }) => sessionId)
    await expect.poll(names).toEqual(['renamed', 'other'])
    rmSync(join(root, 'alice/2026-02-01/renamed/part2.ts'))
    await expect.poll(names).toEqual(['other'])
  })
})

describe('the entries of a folder', () => {
  const files = (...names: string[]) => names.map((name) => ({ name, kind: 'file' as const }))

  test.each([
    [
      ['part10.ts', 'part2.ts', 'part1.ts'],
      ['part1.ts', 'part2.ts', 'part10.ts'],
    ],
    [
      ['a.ts', 'a.mp4', 'b.ts'],
      ['a.mp4', 'b.ts'],
    ],
    [['a.mp4', 'b.mp4.part'], undefined],
  ])('%j are played as parts', (given, expected = given) => {
    expect(readSessionFolder(files(...given))).toEqual({ kind: 'parts', names: expected })
  })

  test.each([
    [['1.ts', 'live.m3u8'], 'live.m3u8'],
    [['720p.m3u8', 'Index.M3U8', 'index.m3u8', 'playlist.m3u8'], 'playlist.m3u8'],
    [['b.m3u8', 'A.M3U8'], 'A.M3U8'],
  ])('%j are a playlist', (given, name) => {
    expect(readSessionFolder(files(...given))).toEqual({ kind: 'playlist', name })
  })
})

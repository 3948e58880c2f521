// The scanner over real folders and a real database: what is listed, when it is inspected, and what
// failures cost.
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { AppError } from '../../../base/errors.ts'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import type { Storage } from '../../../storage/recordings/storage.ts'
import type { Catalog } from '../catalog.ts'
import { CatalogWriter } from '../store/catalog-writer.ts'
import { Database } from '../store/database.ts'
import type { Inspect } from './inspector.ts'
import { listImperfect } from '../store/imperfect.ts'
import { createLayout } from '../names/layout.ts'
import { Scanner } from './scan.ts'
import type { ScannerOptions, ScanPauses, ScanProblem } from './scan.ts'
import { patienceMs, soon } from '../../../../test/support/patience.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { createTempCatalog } from '../../../../test/support/temp-catalog.ts'
import type { TempCatalog } from '../../../../test/support/temp-catalog.ts'

let file: string
let root: string
let database: Database
let catalog: Catalog
let write: TempCatalog['put']
let problems: ScanProblem[]
let inspected: string[]
let nowMs: number

beforeEach(() => {
  ;({ file, root, database, catalog, put: write } = createTempCatalog('scan'))
  problems = []
  inspected = []
  nowMs = Date.now()
})

/** Plays what begins with a number of seconds; a `!` cannot be played, a `?` cannot be read. */
const inspect: Inspect = async ({ path, kind, stat }) => {
  inspected.push(path)
  if (kind === 'folder') {
    return { status: 'playable', durationSeconds: stat.sizeBytes, isFlawed: false }
  }
  const file = await new FolderStorage(root).open(path)
  const buffer = Buffer.alloc(16)
  const text = buffer.toString('utf8', 0, await file.read(buffer, 0))
  await file.close()
  if (text.startsWith('?')) throw new AppError('failed', 'disk error')
  if (text.startsWith('!'))
    return { status: 'unplayable', reason: { code: 'moov-missing', offsetBytes: 7 } }
  return { status: 'playable', durationSeconds: Number.parseInt(text, 10), isFlawed: false }
}

function scanner(options: Partial<ScannerOptions> = {}): Scanner {
  return new Scanner({
    storage: new FolderStorage(root),
    layout: createLayout('{streamer}/{date}/{sessionId}'),
    writer: new CatalogWriter(database),
    inspect,
    settleSeconds: 30,
    now: () => nowMs,
    onProblem: (problem) => problems.push(problem),
    ...options,
  })
}

const SHORT_PAUSES: ScanPauses = {
  libraryRetryMs: 50,
  catalogRetryMs: 50,
  smallPollMs: 50,
  largePollMs: 50,
  watchRetryMs: patienceMs,
  watchStartMs: patienceMs,
}

/** The library's storage, of which some calls behave otherwise. */
function storageWith(calls: Partial<Storage>): Storage {
  const storage = new FolderStorage(root)
  return {
    list: (folder, options) => storage.list(folder, options),
    stat: (path) => storage.stat(path),
    open: (path) => storage.open(path),
    watch: (onChange, signal) => storage.watch(onChange, signal),
    ...calls,
  }
}

async function scan(options: Partial<ScannerOptions> = {}): Promise<void> {
  await scanner(options).scanOnce(new AbortController().signal)
}

/** Writes a recording that has not changed for `ageSeconds`. */
function put(path: string, content = '60', ageSeconds = 3600): void {
  write(path, content)
  const time = nowMs / 1000 - ageSeconds
  utimesSync(join(root, path), time, time)
}

describe('a scan', () => {
  test('lists streamers and sessions in order, with counts and durations', async () => {
    put('bob/2026-01-31/9.ts', '59')
    put('bob/2026-01-31/10.ts', '3661')
    put('bob/2026-02-01/1.mp4', '245')
    put('Alice/20260101_201500/1.ts')
    await scan()
    expect(catalog.listStreamers()).toEqual([
      { name: 'Alice', recording_count: 1 },
      { name: 'bob', recording_count: 3 },
    ])
    expect(catalog.listSessions('bob')).toEqual([
      { date: '2026-02-01', sessionId: '1', duration: '0:04:05' },
      { date: '2026-01-31', sessionId: '10', duration: '1:01:01' },
      { date: '2026-01-31', sessionId: '9', duration: '0:00:59' },
    ])
    expect(catalog.newestSessions('bob', 2).map(({ path }) => path)).toEqual([
      'bob/2026-02-01/1.mp4',
      'bob/2026-01-31/10.ts',
    ])
    expect(catalog.listSessions('nobody')).toBeUndefined()
    expect(catalog.newestSessions('nobody', 2)).toEqual([])
  })

  test('inspects prioritised recordings first, then the newest', async () => {
    put('a/2026-01-01/1.ts')
    put('a/2026-03-01/1.ts')
    put('b/2026-02-01/1.ts')
    const one = scanner()
    await scan({ inspect: async () => Promise.reject(new Error('not yet')) })
    nowMs += 6000
    one.prioritise({ streamer: 'a', date: '2026-01-01', sessionId: '1' })
    await one.scanOnce(new AbortController().signal)
    expect(inspected).toEqual(['a/2026-01-01/1.ts', 'a/2026-03-01/1.ts', 'b/2026-02-01/1.ts'])
  })

  test('inspects nothing twice without a change, and leaves the generation as it is', async () => {
    put('a/2026-01-01/1.ts')
    put('a/2026-01-01/bad.ts', '!')
    await scan()
    const generation = catalog.generation()
    await scan()
    expect(inspected).toHaveLength(2)
    expect(catalog.generation()).toBe(generation)
  })

  test('resets a replaced recording to found, without its duration', async () => {
    put('a/2026-01-01/1.ts', '60')
    await scan()
    put('a/2026-01-01/1.ts', '120', 1800)
    await scan({ inspect: async () => Promise.reject(new Error('disk')) })
    expect(catalog.listSessions('a')).toEqual([{ date: '2026-01-01', sessionId: '1' }])
    nowMs += 6000
    await scan()
    expect(catalog.listSessions('a')?.[0]?.duration).toBe('0:02:00')
  })

  test('neither lists nor counts unplayable recordings, but stores the reason', async () => {
    put('a/2026-01-01/good.ts')
    put('a/2026-01-01/bad.ts', '!')
    put('only-bad/2026-01-01/bad.ts', '!')
    await scan()
    expect(catalog.listStreamers()).toEqual([{ name: 'a', recording_count: 1 }])
    expect(catalog.listSessions('a')?.map(({ sessionId }) => sessionId)).toEqual(['good'])
    const bad = catalog.findSession({ streamer: 'a', date: '2026-01-01', sessionId: 'bad' })
    expect(bad?.state).toEqual({
      status: 'unplayable',
      reason: { code: 'moov-missing', offsetBytes: 7 },
    })
  })

  test('removes deleted recordings, and a streamer with its folder', async () => {
    put('a/2026-01-01/1.ts')
    put('a/2026-01-01/2.ts')
    put('b/2026-01-01/1.ts')
    await scan()
    rmSync(join(root, 'a/2026-01-01/1.ts'))
    rmSync(join(root, 'b'), { recursive: true })
    await scan()
    expect(catalog.listStreamers()).toEqual([{ name: 'a', recording_count: 1 }])
    expect(
      catalog.findSession({ streamer: 'a', date: '2026-01-01', sessionId: '1' }),
    ).toBeUndefined()
  })

  test('treats another path template as another library', async () => {
    put('a/2026-01-01/1.ts')
    await scan()
    await scan({ layout: createLayout('*/{date}/{streamer}') })
    expect(catalog.listStreamers()).toEqual([{ name: '1', recording_count: 1 }])
  })

  test('reports its progress in plain numbers', async () => {
    put('a/2026-01-01/1.ts')
    put('a/2026-01-01/2.ts')
    const reported: object[] = []
    await scan({ onProgress: (progress) => reported.push(progress) })
    expect(reported.at(-1)).toEqual({ found: 2, done: 2, total: 2 })
  })
})

describe('results of inspections', () => {
  const lengths = () => catalog.listSessions('a')?.map(({ duration }) => duration)

  test('are written together if many arrive quickly', async () => {
    for (let id = 0; id < 250; id += 1) put(`a/2026-01-01/${id}.ts`)
    await scan({ inspect: async () => Promise.reject(new Error('not yet')) })
    nowMs += 6000
    const before = catalog.generation()
    // No time passes, so only full batches of a hundred are written.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    await scan({
      inspect: async () => ({ status: 'playable', durationSeconds: 60, isFlawed: false }),
    })
    expect(lengths()).toEqual(Array.from({ length: 250 }, () => '0:01:00'))
    expect(catalog.generation() - before).toBe(3)
  })

  test('are shown soon, however long the next inspection takes', async () => {
    put('a/2026-01-02/1.ts')
    put('a/2026-01-01/1.ts')
    const gate = Promise.withResolvers<void>()
    const scanning = scan({
      inspect: async ({ path }) => {
        if (path.includes('2026-01-01')) await gate.promise
        return { status: 'playable', durationSeconds: 60, isFlawed: false }
      },
    })
    await expect.poll(lengths, soon).toEqual(['0:01:00', undefined])
    gate.resolve()
    await scanning
    expect(lengths()).toEqual(['0:01:00', '0:01:00'])
  })
})

describe('two files of one session', () => {
  const session = { streamer: 'a', date: '2026-01-01', sessionId: '1' }

  test('are one session: the best format, or the first that plays', async () => {
    put('a/2026-01-01/1.ts', '61')
    put('a/2026-01-01/1.mp4', '!')
    await scan()
    expect(inspected).toEqual(['a/2026-01-01/1.mp4', 'a/2026-01-01/1.ts'])
    expect(catalog.listStreamers()).toEqual([{ name: 'a', recording_count: 1 }])
    expect(catalog.findSession(session)?.path).toBe('a/2026-01-01/1.ts')
  })

  test('leave the other uninspected, and use it when the best is deleted', async () => {
    put('a/2026-01-01/1.ts', '61')
    put('a/2026-01-01/1.mp4', '60')
    put('b/2026-01-01/1.ts', '!')
    await scan()
    // Newest first, and the two were written within a tick or two of each other.
    expect(inspected.toSorted()).toEqual(['a/2026-01-01/1.mp4', 'b/2026-01-01/1.ts'])
    expect(listImperfect(database)).toMatchObject([
      {
        path: 'a/2026-01-01/1.ts',
        session,
        state: { status: 'duplicate', servedPath: 'a/2026-01-01/1.mp4' },
      },
      {
        path: 'b/2026-01-01/1.ts',
        state: { status: 'unplayable', reason: { code: 'moov-missing', offsetBytes: 7 } },
      },
    ])
    rmSync(join(root, 'a/2026-01-01/1.mp4'))
    await scan()
    expect(catalog.findSession(session)?.path).toBe('a/2026-01-01/1.ts')
    expect(catalog.listSessions('a')).toEqual([
      { ...session, streamer: undefined, duration: '0:01:01' },
    ])
  })

  test('folders of both normalisation forms are one streamer, found by either', async () => {
    put('zoë/2026-01-01/1.ts'.normalize('NFC'))
    put('zoë/2026-01-02/1.ts'.normalize('NFD'))
    await scan()
    expect(catalog.listStreamers()).toEqual([{ name: 'zoë'.normalize('NFC'), recording_count: 2 }])
    expect(catalog.listSessions('zoë'.normalize('NFD'))).toHaveLength(2)
  })
})

describe('a file that still changes', () => {
  test('is not rejected before it has settled', async () => {
    put('a/2026-01-01/1.mp4', '!', 5)
    await scan()
    expect(inspected).toHaveLength(1)
    expect(catalog.listSessions('a')).toEqual([{ date: '2026-01-01', sessionId: '1' }])
    await scan()
    expect(inspected).toHaveLength(1)
    nowMs += 26_000
    await scan()
    expect(inspected).toHaveLength(2)
    expect(catalog.listStreamers()).toEqual([])
  })

  test('is inspected again after it changed', async () => {
    put('a/2026-01-01/1.mp4', '!', 5)
    await scan()
    nowMs += 5000
    put('a/2026-01-01/1.mp4', '60', 0)
    await scan()
    expect(catalog.listSessions('a')?.[0]?.duration).toBe('0:01:00')
  })

  test('has a minimum interval between inspections, however often it changes', async () => {
    put('a/2026-01-01/1.ts', '60', 1)
    await scan()
    for (let size = 61; size < 66; size += 1) {
      put('a/2026-01-01/1.ts', String(size), 0)
      nowMs += 100
      await scan()
    }
    expect(inspected).toHaveLength(1)
    nowMs += 1000
    await scan()
    expect(inspected).toHaveLength(2)
  })

  test('a time in the future counts as finished', async () => {
    put('a/2026-01-01/1.mp4', '!', -3600)
    await scan()
    expect(catalog.listStreamers()).toEqual([])
  })
})

describe('failures', () => {
  test('an inspection that fails for an outside reason is retried with backoff', async () => {
    put('a/2026-01-01/1.ts', '?')
    put('a/2026-01-01/2.ts')
    await scan()
    expect(problems).toMatchObject([{ kind: 'inspection', path: 'a/2026-01-01/1.ts' }])
    expect(catalog.listSessions('a')).toHaveLength(2)
    for (const waitMs of [4000, 2000, 4000, 7000]) {
      nowMs += waitMs
      await scan()
    }
    expect(inspected.filter((path) => path.endsWith('1.ts'))).toHaveLength(3)
  })

  test('a missing library leaves the catalog as it is', async () => {
    put('a/2026-01-01/1.ts')
    await scan()
    renameSync(root, `${root}-away`)
    await expect(scan()).rejects.toMatchObject({ code: 'not_found' })
    mkdirSync(root)
    await expect(scan()).rejects.toMatchObject({ code: 'failed' })
    expect(catalog.listStreamers()).toEqual([{ name: 'a', recording_count: 1 }])
  })

  test('an unreadable folder keeps its rows and is reported once', async () => {
    put('a/2026-01-01/1.ts')
    put('b/2026-01-01/1.ts')
    await scan()
    const folder = new FolderStorage(root)
    const list: Storage['list'] = async (path, options) => {
      if (path === 'a') throw new AppError('failed', 'permission denied')
      return folder.list(path, options)
    }
    const one = scanner({ storage: storageWith({ list }) })
    await one.scanOnce(new AbortController().signal)
    await one.scanOnce(new AbortController().signal)
    expect(problems).toMatchObject([{ kind: 'folder', path: 'a' }])
    expect(catalog.listStreamers()).toHaveLength(2)
  })

  test.each(['list', 'watch'] as const)('a %s that hangs ends with the scan', async (hanging) => {
    put('a/2026-01-01/1.ts')
    const folder = new FolderStorage(root)
    const called = Promise.withResolvers<void>()
    const mount = Promise.withResolvers<void>()
    const hang = async (): Promise<void> => {
      called.resolve()
      await mount.promise
    }
    const list: Storage['list'] = async (path, options) => {
      if (hanging === 'list' && path === 'a') await hang()
      return folder.list(path, options)
    }
    const watch: Storage['watch'] = async (onChange, signal) => {
      if (hanging === 'watch') await hang()
      return folder.watch(onChange, signal)
    }
    const stopping = new AbortController()
    const ended = scanner({ storage: storageWith({ list, watch }) }).run(stopping.signal)
    await called.promise
    stopping.abort()
    await ended
    // What was abandoned writes nothing into the catalog of another scan.
    mount.resolve()
    await sleep(20)
    expect(catalog.listStreamers()).toEqual([])
  })
})

test('every hostile name is either listed and found, or ignored', async () => {
  const names = [
    '100%',
    '#1',
    'who?',
    `"quoted" 'name'`,
    '-rf',
    'two\nlines',
    'tab\there',
    'né',
    'ne\u0301e',
    'a b',
    '__proto__',
    'constructor',
    'CON',
    '...',
    '%2e%2e',
    '\u202Ertl',
    '\u200B',
    '😀',
    'Case',
    'case',
    'é'.repeat(126),
    'back\\slash',
    '<img src=x onerror=alert(1)>',
  ].filter((name) => !name.startsWith('.'))
  for (const name of names) put(`${name}/2026-01-31/${name}.ts`)
  put('.hidden/2026-01-31/1.ts')
  mkdirSync(join(root, 'empty/2026-01-31'), { recursive: true })
  put('late/2026-01-31/folder/inner/part1.ts')
  put('late/2026-01-31/notes.txt')
  symlinkSync('..', join(root, 'loop'))
  const outside = makeTempFolder('outside')
  mkdirSync(join(outside, '2026-01-31'))
  writeFileSync(join(outside, '2026-01-31/1.ts'), '60')
  symlinkSync(outside, join(root, 'outside'))
  await scan()
  const listed = catalog.listStreamers().map(({ name }) => name)
  expect(listed.toSorted()).toEqual(names.map((name) => name.normalize('NFC')).toSorted())
  for (const name of names) {
    const session = { streamer: name, date: '2026-01-31', sessionId: name }
    const found = catalog.findSession(session)
    expect(found).toMatchObject({
      path: `${name}/2026-01-31/${name}.ts`,
      state: { durationSeconds: 60 },
    })
  }
})

describe('while it runs', () => {
  let stop: AbortController
  let running: Promise<void>

  function start(options: Partial<ScannerOptions> = {}): Scanner {
    stop = new AbortController()
    const one = scanner({ now: Date.now, pauses: SHORT_PAUSES, ...options })
    running = one.run(stop.signal)
    return one
  }

  afterEach(async () => {
    stop.abort()
    await running
  })

  const durations = () => catalog.listSessions('a')?.map(({ duration }) => duration)

  test('reports the end of the last inspection, however soon after another report', async () => {
    put('a/2026-01-01/1.ts')
    let last: object | undefined
    start({ onProgress: (progress) => (last = progress) })
    await expect.poll(() => last, soon).toEqual({ found: 1, done: 1, total: 1 })
  })

  test('shows what is added, replaced and removed', async () => {
    put('a/2026-01-01/1.ts', '60')
    await start().firstWalk
    await expect.poll(durations, soon).toEqual(['0:01:00'])
    put('a/2026-01-02/new/../2.ts', '120')
    put('b/2026-01-01/1.ts')
    await expect.poll(durations, soon).toEqual(['0:02:00', '0:01:00'])
    await expect.poll(() => catalog.listStreamers().length, soon).toBe(2)
    put('a/2026-01-02/2.ts', '180', 60)
    await expect.poll(durations, soon).toEqual(['0:03:00', '0:01:00'])
    rmSync(join(root, 'a/2026-01-02/2.ts'))
    await expect.poll(durations, soon).toEqual(['0:01:00'])
    renameSync(join(root, 'a'), join(root, 'c'))
    await expect
      .poll(() => catalog.listStreamers().map(({ name }) => name), soon)
      .toEqual(['b', 'c'])
    rmSync(join(root, 'b'), { recursive: true })
    rmSync(join(root, 'c'), { recursive: true })
    await expect.poll(() => catalog.listStreamers(), soon).toEqual([])
    expect(problems).toEqual([])
  })

  test('shows changes made during a long full walk', async () => {
    put('a/2026-01-01/1.ts')
    for (let number = 0; number < 200; number += 1) put(`slow${number}/2026-01-01/1.ts`)
    const folder = new FolderStorage(root)
    const wasListed = Promise.withResolvers<void>()
    const isWatched = Promise.withResolvers<void>()
    const areReported = Promise.withResolvers<void>()
    const isShown = Promise.withResolvers<void>()
    let slowLists = 0
    const list: Storage['list'] = async (path, options) => {
      const entries = await folder.list(path, options)
      if (path.startsWith('slow')) {
        await areReported.promise
        slowLists += 1
        // Eight at once: by then, the changes have been due for long.
        const isLate = slowLists > 320
        await Promise.race([isShown.promise, ...(isLate ? [] : [sleep(50)])])
      }
      if (path === 'a/2026-01-01') wasListed.resolve()
      // the last is walked first
      return entries.toSorted((one, other) => (one.name < other.name ? 1 : -1))
    }
    const watch: Storage['watch'] = async (onChange, signal) => {
      const reported = new Set<string>()
      const notify = (changed: string): void => {
        isWatched.resolve()
        onChange(changed)
        reported.add(changed)
        if (reported.has('a/2026-01-01') && reported.has('b')) areReported.resolve()
      }
      return folder.watch(notify, signal)
    }
    const { firstWalk } = start({ storage: storageWith({ list, watch }) })
    const isWalked = firstWalk.then(() => true)
    await Promise.all([wasListed.promise, isWatched.promise])
    put('a/2026-01-01/2.ts')
    put('b/2026-01-01/1.ts')
    rmSync(join(root, 'a/2026-01-01/1.ts'))
    const ids = () => catalog.listSessions('a')?.map(({ sessionId }) => sessionId)
    await expect.poll(ids, soon).toEqual(['2'])
    await expect.poll(() => catalog.listSessions('b')?.length, soon).toBe(1)
    expect(await Promise.race([isWalked, Promise.resolve(false)])).toBe(false)
    isShown.resolve()
    await firstWalk
    expect(ids()).toEqual(['2'])
    expect(catalog.listStreamers()).toHaveLength(202)
  })

  test('walks the library once if it can be watched, then follows its changes', async () => {
    put('a/2026-01-01/1.ts')
    const folder = new FolderStorage(root)
    const listed: string[] = []
    const list: Storage['list'] = async (path, options) => {
      listed.push(path)
      return folder.list(path, options)
    }
    await start({ storage: storageWith({ list }) }).firstWalk
    put('a/2026-01-01/2.ts')
    await expect.poll(() => durations()?.length, soon).toBe(2)
    expect(listed.filter((path) => path === '')).toHaveLength(1)
  })

  test('polls if watching is not possible, and reports that once', async () => {
    const storage = storageWith({
      watch: async () => Promise.reject(new AppError('failed', 'no inotify')),
    })
    await start({ storage }).firstWalk
    put('a/2026-01-01/1.ts', '60')
    await expect.poll(durations, soon).toEqual(['0:01:00'])
    expect(problems).toMatchObject([{ kind: 'watch' }])
  })

  test('reports that the catalog cannot be written, and recovers', async () => {
    const sqlite = new Sqlite(file)
    // No more than there is by now.
    sqlite.pragma('max_page_count = 1')
    for (let at = 0; at < 60; at += 1) put(`a/2026-01-01/${'long'.repeat(40)}${at}.ts`)
    await start({ writer: new CatalogWriter(new Database(sqlite)) }).firstWalk
    expect(problems).toMatchObject([{ kind: 'catalog' }])
    sqlite.pragma('max_page_count = 100000')
    await expect.poll(() => durations()?.length, soon).toBe(60)
    stop.abort()
    await running
    sqlite.close()
  })

  test('keeps the catalog while the library is missing, and recovers', async () => {
    put('a/2026-01-01/1.ts', '60')
    await start().firstWalk
    await expect.poll(durations, soon).toEqual(['0:01:00'])
    renameSync(root, `${root}-away`)
    await expect.poll(() => problems.length, soon).toBe(1)
    expect(problems).toMatchObject([{ kind: 'library' }])
    expect(catalog.listStreamers()).toHaveLength(1)
    renameSync(`${root}-away`, root)
    put('a/2026-01-02/1.ts', '120')
    await expect.poll(durations, soon).toEqual(['0:02:00', '0:01:00'])
    appendFileSync(join(root, 'a/2026-01-02/1.ts'), '0')
    await expect.poll(durations, soon).toEqual(['0:20:00', '0:01:00'])
  })
})

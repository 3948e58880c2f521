// Walks that let changes go first: nothing that was seen earlier is written over what was seen
// later.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import type { Storage } from '../../../storage/recordings/storage.ts'
import type { Catalog } from '../catalog.ts'
import { CatalogWriter } from '../store/catalog-writer.ts'
import type { Database } from '../store/database.ts'
import { createHiddenNames } from '../store/hidden.ts'
import { createLayout } from '../names/layout.ts'
import { walkLibrary } from './walk.ts'
import type { WalkOptions } from './walk.ts'
import { createTempCatalog } from '../../../../test/support/temp-catalog.ts'
import type { TempCatalog } from '../../../../test/support/temp-catalog.ts'

let root: string
let database: Database
let catalog: Catalog
let put: TempCatalog['put']
let writer: CatalogWriter
const { signal } = new AbortController()

beforeEach(() => {
  ;({ root, database, catalog, put } = createTempCatalog('walk'))
  writer = new CatalogWriter(database)
})

function walkOptions(other: Partial<WalkOptions> = {}): WalkOptions {
  return {
    storage: new FolderStorage(root),
    layout: createLayout('{streamer}/{date}/{sessionId}'),
    writer,
    settleMs: 0,
    mayBeEmpty: true,
    now: Date.now,
    onFolderError: expect.unreachable,
    ...other,
  }
}

/**
 * The library's storage, with a callback between the reading of a folder and the return of its
 * entries.
 */
function storageWith(onListed: (folder: string) => void): Storage & { underWay(): number } {
  const storage = new FolderStorage(root)
  let underWay = 0
  return {
    list: async (folder, options) => {
      underWay += 1
      const entries = await storage.list(folder, options)
      onListed(folder)
      underWay -= 1
      return entries
    },
    stat: (path) => storage.stat(path),
    open: (path) => storage.open(path),
    watch: (onChange, ending) => storage.watch(onChange, ending),
    underWay: () => underWay,
  }
}

test('a change during a walk is written after what the walk read before', async () => {
  for (let number = 0; number < 40; number += 1) put(`s${number}/2026-01-01/1.ts`)
  const changed = new Set<string>()
  const storage = storageWith((folder) => {
    if (!folder.startsWith('s1') || !folder.includes('/')) return
    put(`${folder}/1.ts`, 'longer')
    put(`${folder}/2.ts`)
    changed.add(folder)
  })
  const changes = {
    areDue: () => changed.size > 0,
    walk: async () => {
      expect(storage.underWay()).toBe(0)
      for (const folder of changed) await walkLibrary(folder, walkOptions(), signal)
      changed.clear()
    },
  }
  await walkLibrary('', walkOptions({ storage, changes }), signal)
  for (let number = 0; number < 40; number += 1) {
    const sessions = catalog.newestSessions(`s${number}`, 10)
    const sizes = sessions.map(({ sessionId, sizeBytes }) => [sessionId, sizeBytes])
    const isChanged = String(number).startsWith('1')
    expect(sizes).toEqual(
      isChanged
        ? [
            ['2', 1],
            ['1', 6],
          ]
        : [['1', 1]],
    )
  }
})

test('a folder of parts that changes during a walk is stored as read last', async () => {
  const layout = createLayout('{streamer}/{date}/{sessionId}')
  for (const name of ['a', 'b', 'c', 'd']) put(`bob/2026-01-01/${name}/1.ts`)
  const changed: string[] = []
  const storage = storageWith((folder) => {
    if (folder !== 'bob/2026-01-01') return
    for (const name of ['a', 'b', 'c', 'd']) changed.push(`bob/2026-01-01/${name}`)
  })
  await walkLibrary('', walkOptions({ layout }), signal)
  const changes = {
    areDue: () => changed.length > 0,
    walk: async () => {
      for (const folder of changed.splice(0)) {
        rmSync(join(root, folder), { recursive: true })
        await walkLibrary(folder, walkOptions({ layout }), signal)
        put(`${folder}-new.ts`)
      }
      // gets the id of a row that was there when the walk read the folder
      await walkLibrary('bob/2026-01-01', walkOptions({ layout }), signal)
      mkdirSync(join(root, 'bob/2026-01-01/d'))
    },
  }
  await walkLibrary('', walkOptions({ layout, storage, changes }), signal)
  expect(catalog.listSessions('bob')?.map(({ sessionId }) => sessionId)).toEqual([
    'd-new',
    'c-new',
    'b-new',
    'a-new',
  ])
})

test('a folder that returns while others are removed stays', async () => {
  const streamers = ['back', 'back-too']
  for (let id = 0; id < 1200; id += 1) put(`gone/2026-01-01/${id}.ts`)
  for (const streamer of streamers) put(`${streamer}/2026-01-01/1.ts`)
  put('here/2026-01-01/1.ts')
  await walkLibrary('', walkOptions(), signal)
  for (const streamer of ['gone', ...streamers]) rmSync(join(root, streamer), { recursive: true })
  let hasCome = false
  const changes = {
    // whichever is removed first
    areDue: () => !hasCome && writer.countRecordings() < 1203,
    walk: async () => {
      hasCome = true
      for (const streamer of streamers) {
        put(`${streamer}/2026-01-02/2.ts`)
        await walkLibrary(streamer, walkOptions(), signal)
      }
    },
  }
  await walkLibrary('', walkOptions({ changes }), signal)
  expect(hasCome).toBe(true)
  expect(catalog.listStreamers().map(({ name }) => name)).toEqual(['back', 'back-too', 'here'])
  for (const streamer of streamers) {
    const ids = catalog.listSessions(streamer)?.map(({ sessionId }) => sessionId)
    expect(ids).toContain('2')
  }
})

test('of several new recordings of one session, one represents it', async () => {
  for (const ending of ['flv', 'ts', 'mkv', 'mp4']) put(`s/2026-01-01/1.${ending}`)
  put('s/2026-01-01/2.ts')
  put('s/2026-01-01/3.mp4', '')
  put('s/2026-01-01/4.mp4', '')
  put('s/2026-01-01/4.ts')
  await walkLibrary('', walkOptions(), signal)
  expect(catalog.listStreamers()).toEqual([{ name: 's', recording_count: 3 }])
  const session = (sessionId: string) =>
    catalog.findSession({ streamer: 's', date: '2026-01-01', sessionId })
  expect(session('1')?.path).toBe('s/2026-01-01/1.mp4')
  expect(session('4')?.path).toBe('s/2026-01-01/4.ts')
  expect(session('3')?.state.status).toBe('unplayable')
  expect(catalog.listSessions('s')?.map(({ sessionId }) => sessionId)).toEqual(['4', '2', '1'])
})

test('a recording stays although a bucket has a folder of its name', async () => {
  put('s/2026-01-01/1.ts')
  put('notes/text.txt')
  const folder = new FolderStorage(root)
  const storage: Storage = {
    ...storageWith(() => undefined),
    list: async (path, options) => {
      if (path === 's/2026-01-01/1.ts') return folder.list('notes', options)
      const entries = await folder.list(path, options)
      const isOfFile = path === 's/2026-01-01'
      return isOfFile ? [...entries, { name: '1.ts', kind: 'folder' }] : entries
    },
  }
  for (let walks = 0; walks < 2; walks += 1) {
    await walkLibrary('', walkOptions({ storage }), signal)
    expect(catalog.listSessions('s')).toEqual([{ date: '2026-01-01', sessionId: '1' }])
  }
})

test('a recording added to a known date ranks after a better one', async () => {
  put('s/2026-01-01/1.mp4')
  await walkLibrary('', walkOptions(), signal)
  put('s/2026-01-01/1.ts')
  put('s/2026-01-01/2.ts')
  await walkLibrary('', walkOptions(), signal)
  expect(catalog.listStreamers()).toEqual([{ name: 's', recording_count: 2 }])
  const session = catalog.findSession({ streamer: 's', date: '2026-01-01', sessionId: '1' })
  expect(session?.path).toBe('s/2026-01-01/1.mp4')
})

test('the first recording of a date is not listed if it is hidden', async () => {
  createHiddenNames(database).hide({
    kind: 'session',
    streamer: 's',
    date: '2026-01-01',
    sessionId: '1',
  })
  put('s/2026-01-01/1.mp4')
  put('s/2026-01-01/2.mp4')
  await walkLibrary('', walkOptions(), signal)
  expect(catalog.listStreamers()).toEqual([{ name: 's', recording_count: 1 }])
  expect(catalog.listSessions('s')?.map(({ sessionId }) => sessionId)).toEqual(['2'])
})

const listFolders = () =>
  database.query<object, { path: string }>('SELECT path FROM folders').all({})

test('keeps no folder whose last recording is gone, and then walks an empty library', async () => {
  put('alice/2026-01-30/1.ts')
  put('alice/2026-01-31/2.ts')
  put('bob/2026-01-31/3.ts')
  await walkLibrary('', walkOptions(), signal)
  rmSync(join(root, 'alice/2026-01-30/1.ts'))
  rmSync(join(root, 'bob'), { recursive: true })
  await walkLibrary('', walkOptions(), signal)
  const folders = ['', 'alice', 'alice/2026-01-31'].map((path) => ({ path }))
  expect(listFolders()).toEqual(folders)
  rmSync(join(root, 'alice/2026-01-31/2.ts'))
  await walkLibrary('alice/2026-01-31', walkOptions(), signal)
  expect(listFolders()).toEqual([])
  rmSync(join(root, 'alice'), { recursive: true })
  await walkLibrary('', walkOptions({ mayBeEmpty: false }), signal)
})

test('walks an empty library of which an older catalog has folders only', async () => {
  database
    .query(`INSERT INTO folders (id, parent_id, path) VALUES (1, NULL, ''), (2, 1, 'a')`)
    .run({})
  await walkLibrary('', walkOptions({ mayBeEmpty: false }), signal)
  expect(listFolders()).toEqual([])
})

// One process indexes, others wait for its index files.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { fixturePath } from '../../../test/support/temp-library.ts'
import { FolderStorage } from '../../storage/recordings/folder/folder-storage.ts'
import type { Storage } from '../../storage/recordings/storage.ts'
import { createMediaReaders } from '../readers.ts'
import { IndexStore } from './index-store.ts'
import type { IndexStoreOptions } from './index-store.ts'
import { inspectRecording } from './inspect-recording.ts'

const NAME = 'flv-h264-aac.flv'
const { signal } = new AbortController()
const readers = createMediaReaders()

let root: string
let storage: Storage
let inspected: string[]

beforeEach(() => {
  root = makeTempFolder('index-workers')
  mkdirSync(join(root, 'library'))
  storage = new FolderStorage(join(root, 'library'))
  copyFileSync(fixturePath(NAME), join(root, 'library', NAME))
  inspected = []
})

/** The store of one process; all have one data folder. */
function storeOf(name: string, options: Partial<IndexStoreOptions> = {}): IndexStore {
  return new IndexStore({
    folder: join(root, 'data'),
    inspect: async (path, limit, previous) => {
      inspected.push(previous === undefined ? name : `${name} continued`)
      return inspectRecording(path, { storage, readers, signal: limit, previous })
    },
    isSettled: () => true,
    onWriteError: () => undefined,
    ...options,
  })
}

function workerOf(primary: IndexStore, isSettled = true): IndexStore {
  return storeOf('worker', {
    isSettled: () => isSettled,
    awaitIndex: async (path, limit) => {
      await primary.find(path, await storage.stat(path), limit)
    },
  })
}

test('several workers wait for the process that indexes', async () => {
  const primary = storeOf('primary')
  const stat = await storage.stat(NAME)
  const workers = [workerOf(primary), workerOf(primary), workerOf(primary)]
  const scan = primary.find(NAME, stat, signal)
  const found = await Promise.all(workers.map((worker) => worker.find(NAME, stat, signal)))
  const { inspection } = await scan
  expect(found.map((each) => each.inspection)).toEqual(workers.map(() => inspection))
  expect(inspected).toEqual(['primary'])
})

test('a worker indexes if the process that indexes has failed', async () => {
  const worker = storeOf('worker', { awaitIndex: () => Promise.resolve() })
  const { inspection } = await worker.find(NAME, await storage.stat(NAME), signal)
  expect(inspection.status).toBe('playable')
  expect(inspected).toEqual(['worker'])
})

test('a worker reads what was appended to a growing recording', async () => {
  const complete = readFileSync(fixturePath(NAME))
  const path = join(root, 'library', NAME)
  writeFileSync(path, complete.subarray(0, 200_000))
  const worker = workerOf(storeOf('primary', { isSettled: () => false }), false)
  await worker.find(NAME, await storage.stat(NAME), signal)
  writeFileSync(path, complete)
  const { inspection } = await worker.find(NAME, await storage.stat(NAME), signal)
  expect(inspection.status).toBe('playable')
  expect(inspected).toEqual(['primary', 'worker continued'])
})

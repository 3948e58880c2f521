// What nodes share of the indexes of recordings, with a folder as the shared store.
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { BROKEN_FIXTURE, fixturePath } from '../../../test/support/temp-library.ts'
import { runForClient } from '../../base/admission/client.ts'
import { Gate } from '../../base/admission/gate.ts'
import { FolderArtifacts } from '../../storage/artifacts/folder-artifacts.ts'
import { SharedArtifacts } from '../../storage/artifacts/shared-artifacts.ts'
import { FolderStorage } from '../../storage/recordings/folder/folder-storage.ts'
import type { FileStat, Storage } from '../../storage/recordings/storage.ts'
import { createMediaReaders } from '../readers.ts'
import { IndexStore } from './index-store.ts'
import { inspectRecording } from './inspect-recording.ts'

const NAME = 'flv-h264-aac.flv'
const { signal } = new AbortController()
const readers = createMediaReaders()
const complete = readFileSync(fixturePath(NAME))

let root: string
let storage: Storage
let stat: FileStat
let inspected: string[]
let isFinal: boolean

beforeEach(async () => {
  root = makeTempFolder('index-store')
  await mkdir(join(root, 'library'))
  storage = new FolderStorage(join(root, 'library'))
  stat = await grow()
  inspected = []
  isFinal = true
})

interface Node {
  store: IndexStore
  artifacts: SharedArtifacts
}

/** A node with a data folder of its own, unless it has that of an earlier run. */
function startNode(data: string, shared = root): Node {
  const log = { warn: () => undefined }
  const artifacts = new SharedArtifacts({ store: new FolderArtifacts(shared), log })
  const store = new IndexStore({
    folder: join(root, data),
    inspect: async (path, limit, previous) => {
      inspected.push(previous === undefined ? data : `${data} continued`)
      return inspectRecording(path, { storage, readers, signal: limit, previous })
    },
    isSettled: () => isFinal,
    shared: { artifacts, isFinal: () => isFinal },
    onWriteError(error) {
      throw error
    },
  })
  return { store, artifacts }
}

/** The inspection by a new process that ends afterwards. */
async function find(data: string, wanted = stat) {
  const { store, artifacts } = startNode(data)
  const { inspection } = await store.find(NAME, wanted, signal)
  await artifacts.close()
  return inspection
}

/** Writes the recording up to a size, and returns its stat. */
async function grow(sizeBytes?: number): Promise<FileStat> {
  await writeFile(join(root, 'library', NAME), complete.subarray(0, sizeBytes))
  return storage.stat(NAME)
}

async function sharedIndexes(): Promise<string[]> {
  const names = await readdir(root, { recursive: true })
  return names.filter((name) => name.startsWith('aftercast-index-') && name.endsWith('.index'))
}

describe('a finished recording', () => {
  it('is inspected by one node, once', async () => {
    const first = await find('a')
    expect(first.status).toBe('playable')
    expect(await find('a')).toEqual(first)
    expect(await find('b')).toEqual(first)
    expect(await find('c')).toEqual(first)
    expect(inspected).toEqual(['a'])
    expect(await sharedIndexes()).toHaveLength(1)
  })

  it('that is unplayable is inspected once, too', async () => {
    await copyFile(fixturePath(BROKEN_FIXTURE), join(root, 'library', 'broken.mp4'))
    const brokenStat = await storage.stat('broken.mp4')
    for (const data of ['a', 'b']) {
      const { store, artifacts } = startNode(data)
      const { inspection } = await store.find('broken.mp4', brokenStat, signal)
      expect(inspection.status).toBe('unplayable')
      await artifacts.close()
    }
    expect(inspected).toEqual(['a'])
  })

  it('has another index in each version', async () => {
    const { store, artifacts } = startNode('a')
    await store.find(NAME, stat, signal)
    await artifacts.close()
    await find('b', { ...stat, version: 'another' })
    expect(inspected).toEqual(['a', 'b'])
  })

  it('is read from the data folder while the shared store is empty', async () => {
    await find('a')
    for (const name of await sharedIndexes()) await rm(join(root, name))
    await find('a')
    expect(inspected).toEqual(['a'])
    // That node has shared it again.
    await find('b')
    expect(inspected).toEqual(['a'])
  })

  it('is inspected again if the shared index is corrupt or of another recording', async () => {
    await find('a')
    const [name = ''] = await sharedIndexes()
    await writeFile(join(root, name), 'no index')
    await find('b')
    await find('c')
    expect(inspected).toEqual(['a', 'b'])
  })

  it('is inspected by each node without a shared store', async () => {
    const { store, artifacts } = startNode('a', join(root, 'unmounted'))
    expect((await store.find(NAME, stat, signal)).inspection.status).toBe('playable')
    await artifacts.close()
    expect(inspected).toEqual(['a'])
  })
})

describe('a client that requests what another one waits for', () => {
  it('does not wait for all other recordings of that client', async () => {
    const started: string[] = []
    const turn = new Gate({ limit: 1, waiting: 9, busyMessage: 'busy' })
    const store = new IndexStore({
      folder: join(root, 'one'),
      inspect: async (path, limit) =>
        turn.run(async () => {
          started.push(path)
          return inspectRecording(NAME, { storage, readers, signal: limit })
        }, limit),
      isSettled: () => true,
      onWriteError: () => undefined,
    })
    const find = async (client: string, path: string) =>
      runForClient(
        () => client,
        async () => store.find(path, stat, signal),
      )
    const release = await turn.enter(signal)
    const finds: Promise<unknown>[] = []
    for (const path of ['1', '2', '3']) {
      finds.push(find('a', path))
      await vi.waitFor(() => expect(turn.figures.waiting).toBe(finds.length))
    }
    finds.push(find('b', '3'))
    release()
    await Promise.all(finds)
    expect(started).toEqual(['1', '3', '2'])
  })
})

describe('a growing recording', () => {
  it('is not shared before it is finished', async () => {
    isFinal = false
    const { store, artifacts } = startNode('a')
    await store.find(NAME, stat, signal)
    expect(await sharedIndexes()).toEqual([])
    isFinal = true
    await store.find(NAME, stat, signal)
    await artifacts.close()
    expect(await sharedIndexes()).toHaveLength(1)
    await find('b')
    expect(inspected).toEqual(['a'])
  })

  it('is continued by a node that has indexed it while it was growing', async () => {
    isFinal = false
    await find('a', await grow(200_000))
    isFinal = true
    const finished = await grow()
    const made = await find('b', finished)
    expect(await find('a', finished)).toEqual(made)
    expect(inspected).toEqual(['a', 'b', 'a continued'])
  })
})

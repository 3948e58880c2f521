// What a walk leaves out: counted completely, or marked as partial.
import { expect, it } from 'vitest'
import { AppError } from '../../../base/errors.ts'
import type { Storage, StorageEntry } from '../../../storage/recordings/storage.ts'
import { UnmatchedCollector } from './unmatched.ts'

const { signal } = new AbortController()
const file = (name: string): StorageEntry => ({ name, kind: 'file' })
const folder = (name: string): StorageEntry => ({ name, kind: 'folder' })

/** Counts its calls; folders without an entry cannot be read. */
function storageOf(folders: Record<string, StorageEntry[]>) {
  const state = { lists: 0 }
  const list = async (path: string): Promise<StorageEntry[]> => {
    state.lists += 1
    const entries = folders[path]
    if (entries === undefined) throw new AppError('failed', 'unreadable')
    return entries
  }
  return { state, storage: { list } as Pick<Storage, 'list'> as Storage }
}

it('counts recordings in folders that the layout does not enter', async () => {
  const { storage } = storageOf({
    live: [folder('alice'), file('notes.txt')],
    'live/alice': [file('a.flv'), file('b.flv'), file('a.jpg')],
    'live/hls': [file('index.m3u8'), file('1.ts'), file('2.ts')],
  })
  const collector = new UnmatchedCollector()
  collector.meet('', [file('top.mp4'), folder('live')])
  collector.meet('live', [folder('hls')])
  expect(await collector.finish(storage, signal)).toEqual({
    count: 4,
    isPartial: false,
    sample: [
      { path: 'top.mp4', kind: 'file' },
      { path: 'live/hls', kind: 'folder' },
      { path: 'live/alice/a.flv', kind: 'file' },
      { path: 'live/alice/b.flv', kind: 'file' },
    ],
  })
})

it('lists a limited number of folders, keeps a sample, and reports both', async () => {
  const names = Array.from({ length: 300 }, (_, at) => `f${at}`)
  const { state, storage } = storageOf(
    Object.fromEntries(names.map((name) => [name, [file('a.ts'), folder('more')]])),
  )
  const collector = new UnmatchedCollector()
  collector.meet('', names.map(folder))
  const { count, isPartial, sample } = await collector.finish(storage, signal)
  expect([state.lists, count, isPartial, sample.length]).toEqual([100, 100, true, 50])
})

it('is partial where a folder cannot be read', async () => {
  const collector = new UnmatchedCollector()
  collector.meet('', [folder('lost+found'), file('a.ts')])
  const found = await collector.finish(storageOf({}).storage, signal)
  expect(found).toMatchObject({ count: 1, isPartial: true })
})

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { soon } from '../../../../test/support/patience.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { runForClient } from '../../../base/admission/client.ts'
import { Gate } from '../../../base/admission/gate.ts'
import { RecordedFolders } from '../../../media/recorded/read-recorded-folder.ts'
import { withRecordedPlaylists } from '../../../media/recorded/recorded-storage.ts'
import type { RecordedStorage } from '../../../media/recorded/recorded-storage.ts'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import { PartFolders } from './part-folders.ts'

let root: string
let folders: PartFolders

beforeEach(() => {
  root = makeTempFolder('files')
  mkdirSync(join(root, 'night'))
  writeFileSync(join(root, 'night/part1.ts'), 'x')
  folders = new PartFolders(withRecordedPlaylists(new FolderStorage(root)))
})

const names = (parts: readonly { name: string }[]) => parts.map(({ name }) => name)

test('caches a listing, except for callers that need the current one', async () => {
  expect(names(await folders.list('night'))).toEqual(['part1.ts'])
  writeFileSync(join(root, 'night/part2.ts'), 'x')
  expect(names(await folders.list('night'))).toEqual(['part1.ts'])
  expect(names(await folders.listNow('night'))).toEqual(['part1.ts', 'part2.ts'])
  expect(names(await folders.list('night'))).toEqual(['part1.ts', 'part2.ts'])
})

test('does not cache the error for an empty folder', async () => {
  rmSync(join(root, 'night/part1.ts'))
  await expect(folders.list('night')).rejects.toMatchObject({ code: 'not_found' })
  writeFileSync(join(root, 'night/part1.ts'), 'x')
  expect(names(await folders.list('night'))).toEqual(['part1.ts'])
})

test('ignores empty files', async () => {
  writeFileSync(join(root, 'night/part1.mp4'), '')
  writeFileSync(join(root, 'night/part2.ts'), '')
  expect(names(await folders.list('night'))).toEqual(['part1.ts'])
})

test('returns the same list until the folder changes', async () => {
  const first = await folders.listNow('night')
  expect(await folders.listNow('night')).toBe(first)
  writeFileSync(join(root, 'night/part1.ts'), 'longer')
  expect(await folders.listNow('night')).toMatchObject([{ stat: { sizeBytes: 6 } }])
})

test('does not list the folder of a playlist again', async () => {
  const listed: string[] = []
  const storage = withRecordedPlaylists(new FolderStorage(root))
  const counting: Omit<RecordedStorage, 'withRanges'> = {
    list: async (folder, options) => {
      listed.push(folder)
      return storage.list(folder, options)
    },
    listRuns: async (path) => storage.listRuns(path),
    stat: async (path) => storage.stat(path),
    open: async (path) => storage.open(path),
    watch: async (onChange, signal) => storage.watch(onChange, signal),
  }
  let clockMs = 0
  folders = new PartFolders(counting, () => clockMs)
  writeFileSync(join(root, 'night/odd.m3u8'), '#EXTM3U\n#EXTINF:6,\npart1.ts\n')
  const runs = await folders.listNow('night')
  expect(names(runs)).toEqual(['0'])
  expect(await folders.listNow('night')).toBe(runs)
  expect(listed).toEqual(['night'])
  // Another playlist may have an unusual name, too.
  clockMs = 5000
  expect(await folders.listNow('night')).toBe(runs)
  expect(listed).toEqual(['night', 'night'])
  writeFileSync(join(root, 'night/part2.ts'), 'xx')
  writeFileSync(join(root, 'night/index.m3u8'), '#EXTM3U\n#EXTINF:6,\npart2.ts\n')
  expect(await folders.listNow('night')).toMatchObject([{ stat: { sizeBytes: 2 } }])
  expect(listed).toHaveLength(2)
  rmSync(join(root, 'night/index.m3u8'))
  rmSync(join(root, 'night/odd.m3u8'))
  const parts = await folders.listNow('night')
  expect(names(parts)).toEqual(['part1.ts', 'part2.ts'])
  listed.length = 0
  expect(await folders.listNow('night')).toBe(parts)
  expect(listed).toEqual(['night'])
  writeFileSync(join(root, 'night/live.m3u8'), '#EXTM3U\n#EXTINF:6,\npart2.ts\n')
  expect(names(await folders.listNow('night'))).toEqual(['0'])
})

test('lets a client that joins a listing not wait for the playlists of the other', async () => {
  const started: string[] = []
  const turn = new Gate({ limit: 1, waiting: 9, busyMessage: 'busy' })
  const files = new FolderStorage(root)
  const recorded = new RecordedFolders(files)
  const { signal } = new AbortController()
  folders = new PartFolders(
    withRecordedPlaylists(files, {
      read: async ({ path, known }) =>
        turn.run(async () => {
          started.push(path)
          return recorded.read(path, known)
        }, signal),
    }),
  )
  const list = async (client: string, folder: string) =>
    runForClient(
      () => client,
      async () => folders.list(folder),
    )
  const release = await turn.enter(signal)
  const lists: Promise<unknown>[] = []
  for (const folder of ['1', '2', '3']) {
    mkdirSync(join(root, folder))
    writeFileSync(join(root, folder, 'a.ts'), 'x')
    writeFileSync(join(root, folder, 'list.m3u8'), '#EXTM3U\n#EXTINF:1,\na.ts\n')
    lists.push(list('a', folder))
    await vi.waitFor(() => expect(turn.figures.waiting).toBe(lists.length), soon)
  }
  lists.push(list('b', '3'))
  release()
  await Promise.all(lists)
  expect(started).toEqual(['1/list.m3u8', '3/list.m3u8', '2/list.m3u8'])
})

import { createCipheriv, randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { ConcatenatedFile } from '../../storage/recordings/concatenated-file.ts'
import { FolderStorage } from '../../storage/recordings/folder/folder-storage.ts'
import type { Storage } from '../../storage/recordings/storage.ts'
import { IndexThread } from '../index/index-thread.ts'
import { RecordedFolders } from './read-recorded-folder.ts'
import type { RecordedPart } from './read-recorded-folder.ts'
import { withRecordedPlaylists } from './recorded-storage.ts'
import type { RecordedStorage } from './recorded-storage.ts'

let root: string
let storage: Storage

beforeEach(() => {
  root = makeTempFolder('recorded')
  storage = new FolderStorage(root)
})

function put(path: string, bytes: Uint8Array | string): void {
  const target = join(root, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, bytes)
}

function bound(inner: Storage): Storage {
  return {
    list: async (folder, options) => inner.list(folder, options),
    stat: async (path) => inner.stat(path),
    open: async (path) => inner.open(path),
    watch: async (onChange, signal) => inner.watch(onChange, signal),
  }
}

function playlist(...lines: string[]): string {
  return ['#EXTM3U', '#EXT-X-TARGETDURATION:6', ...lines, ''].join('\n')
}

async function contentOf({ ranges }: RecordedPart): Promise<string> {
  const file = new ConcatenatedFile(storage, ranges)
  const buffer = Buffer.alloc(file.stat.sizeBytes)
  await file.read(buffer, 0)
  await file.close()
  return buffer.toString()
}

async function readAll(path: string): Promise<string[]> {
  const list = await new RecordedFolders(storage).read(path)
  if (list === 'unchanged') throw new Error('nothing was read before')
  return Promise.all(list.runs.map(contentOf))
}

test('concatenates the segments of a run', async () => {
  put('s/a.ts', 'first ')
  put('s/more/b.ts', 'second ')
  put(
    's/list.m3u8',
    playlist('#EXTINF:6,', 'a.ts', '#EXTINF:6,', 'more/b.ts', '#EXTINF:6,', 'a.ts'),
  )
  expect(await readAll('s/list.m3u8')).toEqual(['first second first '])
})

test('starts each run with its EXT-X-MAP, and applies byte ranges', async () => {
  put('s/all.mp4', 'INITonetwo')
  put(
    's/list.m3u8',
    playlist(
      '#EXT-X-MAP:URI="all.mp4",BYTERANGE="4@0"',
      '#EXTINF:6,',
      '#EXT-X-BYTERANGE:3@4',
      'all.mp4',
      '#EXT-X-DISCONTINUITY',
      '#EXTINF:6,',
      '#EXT-X-BYTERANGE:3@7',
      'all.mp4',
    ),
  )
  expect(await readAll('s/list.m3u8')).toEqual(['INITone', 'INITtwo'])
})

test('decrypts segments with the key file next to them', async () => {
  const key = randomBytes(16)
  const iv = Buffer.alloc(16)
  iv.writeUInt32BE(7, 12)
  const cipher = createCipheriv('aes-128-cbc', key, iv)
  put('s/key.bin', key)
  put('s/a.ts', Buffer.concat([cipher.update('a secret segment'), cipher.final()]))
  put(
    's/list.m3u8',
    playlist(
      '#EXT-X-MEDIA-SEQUENCE:7',
      '#EXT-X-KEY:METHOD=AES-128,URI="key.bin"',
      '#EXTINF:6,',
      'a.ts',
    ),
  )
  expect(await readAll('s/list.m3u8')).toEqual(['a secret segment'])
})

test('ends the run at a missing segment, at the end and in the middle', async () => {
  for (const name of ['a', 'b', 'd']) put(`s/${name}.ts`, name)
  const lines = ['a', 'b', 'c', 'd', 'e'].flatMap((name) => ['#EXTINF:6,', `${name}.ts`])
  put('s/list.m3u8', playlist(...lines))
  expect(await readAll('s/list.m3u8')).toEqual(['ab', 'd'])
})

test('follows a multivariant playlist to its best variant', async () => {
  put('s/high/a.ts', 'high')
  put('s/high/index.m3u8', playlist('#EXTINF:6,', 'a.ts'))
  put(
    's/master.m3u8',
    '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow/index.m3u8\n' +
      '#EXT-X-STREAM-INF:BANDWIDTH=2\nhigh/index.m3u8\n',
  )
  expect(await readAll('s/master.m3u8')).toEqual(['high'])
})

test.each([
  ['no segment is there', playlist('#EXTINF:6,', 'none.ts'), { code: 'segments-missing' }],
  [
    'the key is not there',
    playlist('#EXT-X-KEY:METHOD=AES-128,URI="none"', '#EXTINF:6,', 'a.ts'),
    { code: 'playlist-invalid', defect: 'file-missing' },
  ],
  [
    'a key is longer',
    playlist('#EXT-X-KEY:METHOD=AES-128,URI="long"', '#EXTINF:6,', 'a.ts'),
    { code: 'playlist-invalid', defect: 'key-invalid' },
  ],
  [
    'a key has another length',
    playlist('#EXT-X-KEY:METHOD=AES-128,URI="short"', '#EXTINF:6,', 'a.ts'),
    { code: 'playlist-invalid', defect: 'key-invalid' },
  ],
  [
    'it leads in a circle',
    '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlist.m3u8\n',
    { code: 'playlist-invalid', defect: 'nested-multivariant' },
  ],
  [
    'a name leaves the folder',
    playlist('#EXTINF:6,', '../a.ts'),
    { code: 'playlist-name-rejected', defect: 'outside-folder' },
  ],
])('is unplayable if %s', async (_name, text, reason) => {
  put('s/a.ts', 'x'.repeat(32))
  put('a.ts', 'outside')
  put('s/short', 'short')
  put('s/long', 'x'.repeat(17))
  put('s/list.m3u8', text)
  await expect(readAll('s/list.m3u8')).rejects.toMatchObject({ code: 'unplayable', reason })
})

test('is unplayable if a short playlist expands to excessive media', async () => {
  put('s/a.ts', Buffer.alloc(1024 * 1024))
  const times = (count: number) => Array.from({ length: count }, () => '#EXTINF:6,\na.ts')
  put('s/list.m3u8', playlist(...times(64)))
  expect(await readAll('s/list.m3u8')).toHaveLength(1)
  put('s/list.m3u8', playlist(...times(65)))
  await expect(readAll('s/list.m3u8')).rejects.toMatchObject({
    reason: { code: 'limit-exceeded', limit: 'playlist-repeated-bytes' },
  })
})

test('parses an unchanged playlist once, and checks its files each time', async () => {
  put('s/a.ts', 'a')
  put('s/b.ts', 'b')
  put('s/list.m3u8', playlist('#EXTINF:6,', 'a.ts', '#EXTINF:6,', 'b.ts', '#EXTINF:6,', 'c.ts'))
  const opened: string[] = []
  const folders = new RecordedFolders({
    ...bound(storage),
    open: async (path) => {
      opened.push(path)
      return storage.open(path)
    },
  })
  const first = await folders.read('s/list.m3u8')
  if (first === 'unchanged') throw new Error('nothing was read before')
  expect(await folders.read('s/list.m3u8', first.version)).toBe('unchanged')
  put('s/c.ts', 'late')
  const added = await folders.read('s/list.m3u8', first.version)
  expect(added).toMatchObject({ runs: [{ ranges: { stat: { sizeBytes: 6 } } }] })
  rmSync(join(root, 's/b.ts'))
  const removed = await folders.read('s/list.m3u8', first.version)
  expect(removed).toMatchObject({ runs: [{}, { ranges: { stat: { sizeBytes: 4 } } }] })
  expect(opened).toEqual(['s/list.m3u8'])
  put('s/list.m3u8', playlist('#EXTINF:6,', 'a.ts'))
  await folders.read('s/list.m3u8', first.version)
  expect(opened).toHaveLength(2)
})

test('the index thread returns the same list, and why there is none', async () => {
  put('s/a.ts', 'a')
  put('s/b.ts', 'b')
  put(
    's/list.m3u8',
    playlist(
      '#EXT-X-PROGRAM-DATE-TIME:2026-01-31T20:15:00.000Z',
      '#EXTINF:6,',
      'a.ts',
      '#EXT-X-DISCONTINUITY',
      '#EXTINF:6,',
      'b.ts',
    ),
  )
  put('s/odd.m3u8', playlist('#EXTINF:6,', '../a.ts'))
  const thread = new IndexThread({ kind: 'folder', path: root })
  try {
    const list = await new RecordedFolders(storage).read('s/list.m3u8')
    const read = await thread.readPlaylist('s/list.m3u8', undefined)
    expect(read).toEqual(list)
    if (read === 'unchanged') throw new Error('nothing was read before')
    expect(await Promise.all(read.runs.map(contentOf))).toEqual(['a', 'b'])
    expect(await thread.readPlaylist('s/list.m3u8', read.version)).toBe('unchanged')
    await expect(thread.readPlaylist('s/odd.m3u8', undefined)).rejects.toMatchObject({
      reason: { code: 'playlist-name-rejected', defect: 'outside-folder' },
    })
    await expect(thread.readPlaylist('s/none.m3u8', undefined)).rejects.toMatchObject({
      code: 'not_found',
    })
  } finally {
    await thread.close()
  }
})

describe('files that were not written to for a minute', () => {
  const OLD = new Date('2026-01-31T20:00:00Z')
  let listed: string[]
  let clockMs: number
  let folders: RecordedFolders

  beforeEach(() => {
    listed = []
    clockMs = 0
    const counting: Storage = {
      ...bound(storage),
      list: async (folder, options) => {
        const entries = await storage.list(folder, options)
        listed.push(...entries.flatMap(({ name, stat }) => (stat ? [name] : [])))
        return entries
      },
    }
    folders = new RecordedFolders(counting, () => clockMs)
  })

  /** The version of the list, and the files whose stat was read for it. */
  async function read(known?: string) {
    listed = []
    const list = await folders.read('s/list.m3u8', known)
    const version = list === 'unchanged' ? known : list.version
    return { version, stats: listed.filter((name) => name.endsWith('.ts')).toSorted() }
  }

  function putOld(name: string, content: string): void {
    put(`s/${name}`, content)
    utimesSync(join(root, 's', name), OLD, OLD)
  }

  function putList(...names: string[]): void {
    put('s/list.m3u8', playlist(...names.flatMap((name) => ['#EXTINF:6,', name])))
  }

  test('have their stats read every five seconds while the playlist grows', async () => {
    putOld('a.ts', 'a')
    put('s/b.ts', 'b')
    putList('a.ts', 'b.ts', 'c.ts')
    const first = await read()
    expect(first.stats).toEqual(['a.ts', 'b.ts'])
    put('s/c.ts', 'c')
    const second = await read(first.version)
    expect(second.stats).toEqual(['b.ts', 'c.ts'])
    expect(second.version).not.toBe(first.version)
    rmSync(join(root, 's/a.ts'))
    const third = await read(second.version)
    expect(third.version).not.toBe(second.version)
    putOld('a.ts', 'a')
    const fourth = await read(third.version)
    expect(fourth.stats).toContain('a.ts')
    clockMs = 4999
    expect((await read(fourth.version)).stats).not.toContain('a.ts')
    clockMs = 5000
    expect((await read(fourth.version)).stats).toContain('a.ts')
  })

  test('have them read again if a reader has found another file', async () => {
    putOld('a.ts', 'a')
    putList('a.ts')
    const first = await read()
    putOld('a.ts', 'other')
    expect(await read(first.version)).toEqual({ version: first.version, stats: [] })
    const recorded = withRecordedPlaylists(storage, {
      read: async ({ path, known }) => folders.read(path, known),
      now: () => clockMs,
    })
    const [run] = await recorded.listRuns('s/list.m3u8')
    expect(run?.stat.sizeBytes).toBe(5)
    putOld('a.ts', 'another')
    clockMs = 4000
    expect(await recorded.listRuns('s/list.m3u8')).toEqual([run])
    const file = await recorded.open(run?.path ?? '')
    await expect(file.read(Buffer.alloc(9), 0)).rejects.toMatchObject({ code: 'gone' })
    await file.close()
    const [replaced] = await recorded.listRuns('s/list.m3u8')
    expect(replaced?.stat.sizeBytes).toBe(7)
  })
})

describe('withRecordedPlaylists', () => {
  let reads: string[]
  let clockMs: number

  function recordedStorage(maxCachedBytes = 1e6): RecordedStorage {
    const folders = new RecordedFolders(storage)
    reads = []
    clockMs = 0
    return withRecordedPlaylists(storage, {
      now: () => clockMs,
      maxCachedBytes,
      read: async ({ path, known }) => {
        const list = await folders.read(path, known)
        reads.push(list === 'unchanged' ? 'unchanged' : path)
        return list
      },
    })
  }

  test('checks the files of an unchanged playlist every 5 s, once for all requests', async () => {
    put('s/a.ts', 'a')
    put('s/list.m3u8', playlist('#EXTINF:6,', 'a.ts', '#EXTINF:6,', 'b.ts'))
    const recorded = recordedStorage()
    const [runs, same] = await Promise.all([
      recorded.listRuns('s/list.m3u8'),
      recorded.listRuns('s/list.m3u8'),
    ])
    expect(same).toBe(runs)
    clockMs = 4999
    expect(await recorded.listRuns('s/list.m3u8')).toBe(runs)
    expect(reads).toEqual(['s/list.m3u8'])
    clockMs = 5000
    expect(await recorded.listRuns('s/list.m3u8')).toBe(runs)
    expect(reads).toEqual(['s/list.m3u8', 'unchanged'])
    put('s/b.ts', 'late')
    clockMs = 10_000
    expect(await recorded.stat('s/list.m3u8/0')).toEqual(runs[0]?.stat)
    expect(await recorded.listRuns('s/list.m3u8')).toMatchObject([{ stat: { sizeBytes: 5 } }])
    expect(await recorded.stat('s/list.m3u8/0')).toMatchObject({ sizeBytes: 5 })
    expect(reads).toHaveLength(3)
  })

  test('keeps lists up to a limit in bytes', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `${i}.ts`)
    for (const name of names) put(`s/${name}`, 'x')
    const lines = names.flatMap((name) => ['#EXTINF:6,', name])
    for (const list of ['one', 'two']) put(`s/${list}.m3u8`, playlist(...lines))
    const readBoth = async (recorded: RecordedStorage) => {
      for (const list of ['one', 'two', 'one', 'two']) await recorded.listRuns(`s/${list}.m3u8`)
      return reads.length
    }
    expect(await readBoth(recordedStorage(1e6))).toBe(2)
    expect(await readBoth(recordedStorage(10_000))).toBe(4)
  })
})

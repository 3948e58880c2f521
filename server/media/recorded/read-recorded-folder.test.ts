import { createCipheriv, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openConcatenated } from '../../storage/concatenated-file.ts'
import { createFolderStorage } from '../../storage/folder-storage.ts'
import type { Storage } from '../../storage/storage.ts'
import { RecordedFolders } from './read-recorded-folder.ts'
import type { RecordedPart } from './read-recorded-folder.ts'

let root: string
let storage: Storage

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'aftercast-recorded-'))
  storage = createFolderStorage(root)
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

function put(path: string, bytes: Uint8Array | string): void {
  const target = join(root, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, bytes)
}

function playlist(...lines: string[]): string {
  return ['#EXTM3U', '#EXT-X-TARGETDURATION:6', ...lines, ''].join('\n')
}

async function contentOf({ ranges }: RecordedPart): Promise<string> {
  const file = openConcatenated(storage, ranges)
  const buffer = Buffer.alloc(file.stat.sizeBytes)
  await file.read(buffer, 0)
  await file.close()
  return buffer.toString()
}

async function readAll(path: string): Promise<string[]> {
  const parts = await new RecordedFolders(storage).read(path)
  return Promise.all(parts.map(contentOf))
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

import { createCipheriv, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { UnplayableError } from '../../base/errors.ts'
import { ConcatenatedFile, readDecryptedLength } from './concatenated-file.ts'
import { FolderStorage } from './folder/folder-storage.ts'
import { loadPageCache } from './page-cache.ts'
import { packRanges } from './range-list.ts'
import type { FileRange, RangeList } from './range-list.ts'
import type { Storage } from './storage.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

let root: string
let storage: Storage

beforeEach(() => {
  root = makeTempFolder('concatenated')
  storage = new FolderStorage(root)
})

async function put(path: string, bytes: Uint8Array): Promise<FileRange> {
  writeFileSync(join(root, path), bytes)
  return { path, stat: await storage.stat(path), offset: 0, length: bytes.length }
}

function encrypt(plain: Uint8Array, key: Uint8Array, iv: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-128-cbc', key, iv)
  return Buffer.concat([cipher.update(plain), cipher.final()])
}

/** The second of two lists in one table. */
function joined(ranges: readonly FileRange[]): RangeList {
  const [, list] = packRanges([ranges.slice(0, 1), ranges])
  if (list === undefined) throw new Error('no list')
  return list
}

async function readAt(ranges: FileRange[], position: number, length: number): Promise<Buffer> {
  const file = new ConcatenatedFile(storage, joined(ranges))
  try {
    const buffer = Buffer.alloc(length)
    return buffer.subarray(0, await file.read(buffer, position))
  } finally {
    await file.close()
  }
}

test('reads ranges of several files as one, from any place on', async () => {
  const bytes = randomBytes(30_000)
  const first = await put('a', bytes.subarray(0, 10_000))
  const second = { ...(await put('b', bytes.subarray(5000, 22_000))), offset: 5000, length: 7000 }
  const third = { ...(await put('c', bytes)), offset: 17_000, length: 13_000 }
  const ranges = [first, second, third]
  for (const [position, length] of [
    [0, 30_000],
    [9999, 2],
    [10_000, 7000],
    [16_999, 1],
    [12_345, 20_000],
    [29_999, 10],
    [30_000, 10],
    [40_000, 1],
  ] as const) {
    expect(await readAt(ranges, position, length)).toEqual(
      bytes.subarray(position, position + length),
    )
  }
})

test.runIf(platform() === 'linux')(
  'reads at once what is in memory of a file that is open',
  async () => {
    const bytes = randomBytes(30_000)
    const [key, iv] = [randomBytes(16), randomBytes(16)]
    const ranges = [
      { ...(await put('a', bytes.subarray(0, 12_000))), offset: 2000, length: 10_000 },
      await put('b', bytes.subarray(12_000, 20_000)),
      { ...(await put('c', encrypt(bytes, key, iv))), length: 10_000, decryption: { key, iv } },
    ]
    const pageCache = await loadPageCache()
    const file = new ConcatenatedFile(new FolderStorage(root, { pageCache }), joined(ranges))
    const readCached = (position: number, length: number): Buffer => {
      const buffers = [Buffer.alloc(10), Buffer.alloc(length - 10)]
      const count = file.readCached?.(buffers, position)
      return Buffer.concat(buffers).subarray(0, count)
    }
    expect(file.readCached?.([Buffer.alloc(100)], 0)).toBe(0)
    await file.read(Buffer.alloc(30_000), 0)
    expect(readCached(5000, 5000)).toEqual(bytes.subarray(7000, 12_000))
    expect(readCached(10_000, 8000)).toEqual(bytes.subarray(12_000, 20_000))
    expect(file.readCached?.([Buffer.alloc(100)], 9950)).toBe(0)
    expect(file.readCached?.([Buffer.alloc(100)], 18_000)).toBe(0)
    expect(file.sendCached?.(18_000, 100, 987_654)).toBe(undefined)
    await file.close()
    expect(file.readCached?.([Buffer.alloc(100)], 5000)).toBe(0)
  },
)

test('reads from many files at once, and from none that was closed for another', async () => {
  const bytes = randomBytes(40_000)
  const ranges: FileRange[] = []
  for (let at = 0; at < bytes.length; at += 1000)
    ranges.push(await put(`${at}`, bytes.subarray(at, at + 1000)))
  const file = new ConcatenatedFile(storage, joined(ranges))
  const chunks = await Promise.all(
    ranges.map(async (_, i) => {
      const chunk = Buffer.alloc(1000)
      await file.read(chunk, i * 1000)
      return chunk
    }),
  )
  expect(Buffer.concat(chunks)).toEqual(bytes)
  await file.close()
})

test('has the size of all ranges and the newest time', async () => {
  const ranges = [await put('a', Buffer.alloc(10)), await put('b', Buffer.alloc(20))]
  const file = new ConcatenatedFile(storage, joined(ranges))
  const modifiedMs = Math.max(...ranges.map(({ stat }) => stat.modifiedMs))
  expect(file.stat).toMatchObject({ sizeBytes: 30, modifiedMs })
  const changed = ranges.map((range, i) => ({ ...range, stat: { ...range.stat, version: `${i}` } }))
  expect(joined(changed).stat.version).not.toBe(file.stat.version)
  await file.close()
})

test('decrypts encrypted ranges from any byte on', async () => {
  const [key, iv] = [randomBytes(16), randomBytes(16)]
  const plain = randomBytes(100_003)
  const encrypted = await put('a', encrypt(plain, key, iv))
  const decryption = { key, iv }
  const file = await storage.open('a')
  const length = await readDecryptedLength(file, { ...encrypted, decryption })
  await file.close()
  expect(length).toBe(plain.length)
  const clear = await put('b', Buffer.from('clear'))
  const ranges = [{ ...encrypted, length, decryption }, clear]
  for (const [position, count] of [
    [0, 100],
    [15, 2],
    [16, 16],
    [99_990, 18],
    [1, 100_007],
  ] as const) {
    const all = Buffer.concat([plain, Buffer.from('clear')])
    expect(await readAt(ranges, position, count)).toEqual(all.subarray(position, position + count))
  }
})

test('rejects a wrong key with a clear error', async () => {
  const encrypted = await put('a', encrypt(Buffer.alloc(1000), randomBytes(16), randomBytes(16)))
  const file = await storage.open('a')
  const wrong = { key: Buffer.alloc(16), iv: Buffer.alloc(16) }
  await expect(readDecryptedLength(file, { ...encrypted, decryption: wrong })).rejects.toThrow(
    new UnplayableError({ code: 'segment-key-wrong' }),
  )
  await file.close()
})

test('reads more files than it keeps open', async () => {
  const ranges: FileRange[] = []
  for (let i = 0; i < 30; i += 1) ranges.push(await put(`${i}`, Buffer.from([i])))
  const file = new ConcatenatedFile(storage, joined(ranges))
  for (const round of [0, 1]) {
    const buffer = Buffer.alloc(30)
    await file.readv([buffer.subarray(0, 7), buffer.subarray(7)], 0)
    expect([...buffer], `round ${round}`).toEqual(Array.from({ length: 30 }, (_, i) => i))
  }
  await file.close()
})

test('refuses a file that is not the one of then', async () => {
  const range = await put('a', Buffer.alloc(10))
  writeFileSync(join(root, 'a'), Buffer.alloc(11))
  await expect(readAt([range], 0, 10)).rejects.toMatchObject({ code: 'gone' })
})

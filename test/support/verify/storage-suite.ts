// What every storage has to do, whatever it is: run against a folder and a bucket.
import { describe, expect, test } from 'vitest'
import { readExactly } from '../../../server/storage/recordings/read-exactly.ts'
import type { LibraryStorage, OpenFile } from '../../../server/storage/recordings/storage.ts'
import { soon } from '../patience.ts'

/** An empty storage, and what others write to it. */
export interface StorageFixture {
  storage: LibraryStorage
  /** Writes or replaces a file. */
  put: (path: string, content: string) => Promise<void>
  remove: (path: string) => Promise<void>
  /** Lets so much time pass that the storage finds changes of files that it has found before. */
  settle: () => Promise<void>
}

const NAMES = ['a b+c.ts', 'ü%20ß.ts', '日本 🎬.ts', 'a&<>".ts', 'tab\t.ts', 'e\u0301.ts']
const HIDDEN_PATHS = ['.hidden.ts', '.folder/a.ts', 'folder/.a.ts']
const INVALID_PATHS = [
  '..',
  '../a.ts',
  'folder/../a.ts',
  '/a.ts',
  'folder//a.ts',
  './a.ts',
  'a\0.ts',
  'x'.repeat(5000),
]

/** Registers the tests. Each has a storage of its own. */
export function describeStorage(create: () => Promise<StorageFixture>): void {
  describe('like every storage', () => {
    test('lists files with their stats, and folders', async () => {
      const { storage, put } = await create()
      await put('list/one.ts', 'one')
      await put('list/sub/two.ts', 'second')
      await put('listing/other.ts', 'other')
      const entries = await storage.list('list', { stats: true })
      const [file] = entries.filter(({ kind }) => kind === 'file')
      expect(entries.map(({ name, kind }) => `${kind} ${name}`).toSorted()).toEqual([
        'file one.ts',
        'folder sub',
      ])
      expect(file?.stat).toEqual(await storage.stat('list/one.ts'))
      expect(file?.stat?.sizeBytes).toBe(3)
      expect((await storage.list('')).map(({ name }) => name).toSorted()).toEqual([
        'list',
        'listing',
      ])
    })

    test('has names of every kind, spelled as they were written', async () => {
      const { storage, put } = await create()
      for (const name of NAMES) await put(`odd/${name}`, name)
      const listed = (await storage.list('odd')).map(({ name }) => name)
      expect(listed.toSorted()).toEqual(NAMES.toSorted())
      for (const name of NAMES) expect(await readText(storage, `odd/${name}`)).toBe(name)
    })

    test('has no hidden files', async () => {
      const { storage, put } = await create()
      await put('folder/a.ts', 'visible')
      for (const path of HIDDEN_PATHS) await put(path, 'hidden')
      expect((await storage.list('')).map(({ name }) => name)).toEqual(['folder'])
      expect((await storage.list('folder')).map(({ name }) => name)).toEqual(['a.ts'])
      for (const path of HIDDEN_PATHS) await expectMissing(storage, path)
    })

    test('has nothing at paths that no listing contains', async () => {
      const { storage, put } = await create()
      await put('a.ts', 'a')
      await put('folder/a.ts', 'a')
      for (const path of [...INVALID_PATHS, 'missing.ts', 'folder', 'a.ts/b.ts']) {
        await expectMissing(storage, path)
      }
      for (const path of [...INVALID_PATHS, 'missing']) {
        await expect(storage.list(path)).rejects.toMatchObject({ code: 'not_found' })
      }
    })

    test('may be empty', async () => {
      const { storage } = await create()
      expect(await storage.list('')).toEqual([])
    })

    test('reads ranges and scattered buffers, short at the end', async () => {
      const { storage, put } = await create()
      await put('a.ts', 'abcdefgh')
      const file = await storage.open('a.ts')
      expect(file.stat).toEqual(await storage.stat('a.ts'))
      const buffer = Buffer.alloc(4)
      expect(await file.read(buffer, 2)).toBe(4)
      expect(buffer.toString()).toBe('cdef')
      expect(await file.read(buffer, 6)).toBe(2)
      expect(buffer.subarray(0, 2).toString()).toBe('gh')
      expect(await file.read(buffer, 8)).toBe(0)
      const buffers = [Buffer.alloc(3), Buffer.alloc(0), Buffer.alloc(3)]
      expect(await file.readv(buffers, 1)).toBe(6)
      expect(Buffer.concat(buffers).toString()).toBe('bcdefg')
      expect(await file.readv(buffers, 5)).toBe(3)
      await file.checkUnchanged()
      await file.close()
    })

    test('reads an announced range, and an empty file', async () => {
      const { storage, put } = await create()
      const content = 'abcdefgh'.repeat(100_000)
      await put('a.ts', content)
      await put('empty.ts', '')
      const file = await storage.open('a.ts')
      file.willReadInOrder?.(5, 700_000)
      const read = await readExactly(file, 5, 700_000)
      expect(Buffer.from(read).toString() === content.slice(5, 700_005)).toBe(true)
      await file.close()
      const empty = await storage.open('empty.ts')
      expect(empty.stat.sizeBytes).toBe(0)
      expect(await empty.read(Buffer.alloc(1), 0)).toBe(0)
      await empty.close()
    })

    test('counts open files, which cannot be read once they are closed', async () => {
      const { storage, put } = await create()
      await put('a.ts', 'a')
      const files = [await storage.open('a.ts'), await storage.open('a.ts')]
      expect(storage.openFiles).toBe(2)
      await Promise.all(files.map(async (file) => file.close()))
      expect(storage.openFiles).toBe(0)
      for (const file of files) {
        await expect(file.read(Buffer.alloc(1), 0)).rejects.toMatchObject({ code: 'failed' })
      }
    })

    test('has another version of a replaced file, and never mixes its bytes', async () => {
      const { storage, put, settle } = await create()
      await put('a.ts', 'before')
      const file = await storage.open('a.ts')
      const before = await storage.stat('a.ts')
      expect(await storage.stat('a.ts')).toEqual(before)
      await put('a.ts', 'after!')
      const read = await readAll(file).catch(({ code }: { code: unknown }) => code)
      expect(['before', 'gone']).toContain(read)
      await file.close()
      await settle()
      expect((await storage.stat('a.ts')).version).not.toBe(before.version)
      expect(await readText(storage, 'a.ts')).toBe('after!')
    })

    test('has a removed file no longer', async () => {
      const { storage, put, remove, settle } = await create()
      await put('folder/a.ts', 'a')
      await put('folder/b.ts', 'b')
      expect(await readText(storage, 'folder/a.ts')).toBe('a')
      await remove('folder/a.ts')
      await settle()
      await expectMissing(storage, 'folder/a.ts')
      expect((await storage.list('folder')).map(({ name }) => name)).toEqual(['b.ts'])
    })

    test('reports the folder of a new file', async () => {
      const { storage, put } = await create()
      await put('folder/a.ts', 'a')
      const changed: string[] = []
      const stop = new AbortController()
      const watching = storage.watch((folder) => changed.push(folder), stop.signal)
      await expect.poll(() => changed, soon).toEqual([''])
      await put('folder/b.ts', 'b')
      await expect.poll(() => changed, soon).toContain('folder')
      stop.abort()
      await watching
    })
  })
}

async function expectMissing(storage: LibraryStorage, path: string): Promise<void> {
  await expect(storage.stat(path), path).rejects.toMatchObject({ code: 'not_found' })
  await expect(storage.open(path), path).rejects.toMatchObject({ code: 'not_found' })
}

async function readText(storage: LibraryStorage, path: string): Promise<string> {
  const file = await storage.open(path)
  try {
    return await readAll(file)
  } finally {
    await file.close()
  }
}

async function readAll(file: OpenFile): Promise<string> {
  return Buffer.from(await readExactly(file, 0, file.stat.sizeBytes)).toString()
}

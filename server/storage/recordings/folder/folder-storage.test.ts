// Containment, hostile names and reading of the folder storage, on real folders.
import { createHook } from 'node:async_hooks'
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { FolderStorage } from './folder-storage.ts'
import { soon } from '../../../../test/support/patience.ts'
import { describeStorage } from '../../../../test/support/verify/storage-suite.ts'
import type { OpenOptions, Storage } from '../storage.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'

let base: string
let root: string
let skipped: string[]
let storage: Storage

beforeEach(() => {
  base = makeTempFolder('storage')
  root = join(base, 'rec')
  mkdirSync(root)
  skipped = []
  storage = new FolderStorage(root, {
    onSkipped: (reason, path) => skipped.push(`${path}: ${reason}`),
  })
})

async function names(folder = ''): Promise<string[]> {
  return (await storage.list(folder)).map(({ name }) => name).toSorted()
}

/** Opens a file in a process that has no descriptor left; prints the error's code. */
const OPEN_WITHOUT_DESCRIPTORS = `
  import { openSync } from 'node:fs'
  import { FolderStorage } from ${JSON.stringify(
    new URL('./folder-storage.ts', import.meta.url).href,
  )}
  const storage = new FolderStorage(process.argv[1])
  await storage.open('a.ts').then((file) => file.close())
  try { for (;;) openSync('/dev/null') } catch {}
  await storage.open('a.ts').catch(({ code }) => console.log(code))`

test.runIf(process.platform === 'linux')('a lack of descriptors is no defect of a file', () => {
  writeFileSync(join(root, 'a.ts'), 'x')
  const flags = ['--input-type=module', '--eval', OPEN_WITHOUT_DESCRIPTORS, root]
  const output = execFileSync('prlimit', ['--nofile=64', process.execPath, ...flags])
  expect(String(output)).toBe('busy\n')
})

describeStorage(async () => ({
  storage: new FolderStorage(root),
  async put(path, content) {
    const target = join(root, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(join(base, 'incoming'), content)
    renameSync(join(base, 'incoming'), target)
  },
  remove: async (path) => rmSync(join(root, path)),
  settle: async () => undefined,
}))

describe('list', () => {
  test('lists a file that is renamed between the listing and its stat', async () => {
    mkdirSync(join(root, 'alice'))
    writeFileSync(join(root, 'alice', 'new.ts'), 'renamed')
    const real = join(root, 'alice')
    const fileStats = new Float64Array(0)
    const stale = { real, files: ['old.ts'], folders: [], odd: [], fileStats }
    const answers = [stale]
    const reader = { read: async () => answers.shift(), count: () => undefined }
    const renaming = new FolderStorage(root, { folderThread: reader })
    await renaming.list('')
    const entries = await renaming.list('alice', { stats: true })
    expect(entries.map(({ name }) => name)).toEqual(['new.ts'])
    expect(answers).toEqual([])
  })

  test('is read once where a file can never have a stat', async () => {
    // As long as paths may be: that of a file in this folder is longer.
    const rest = 4090 - root.length
    const parts = Array.from({ length: Math.ceil(rest / 250) }, (_, at) =>
      'd'.repeat(Math.min(rest - at * 250, 250) - 1),
    )
    const folder = parts.filter((name) => name !== '').join('/')
    const cwd = join(root, folder)
    mkdirSync(cwd, { recursive: true })
    execFileSync('touch', ['a-recording.ts'], { cwd })
    execFileSync('ln', ['-s', 'nowhere', 'x'], { cwd })
    const entries = await storage.list(folder, { stats: true })
    execFileSync('rm', ['a-recording.ts', 'x'], { cwd })
    expect(entries).toEqual([])
    expect(skipped).toHaveLength(1)
  })

  test('leaves out hidden names', async () => {
    mkdirSync(join(root, '.hidden'))
    writeFileSync(join(root, '.hidden', 'x.ts'), '')
    writeFileSync(join(root, '.x.ts'), '')
    expect(await names()).toEqual([])
    await expect(storage.list('.hidden')).rejects.toMatchObject({ code: 'not_found' })
    await expect(storage.open('.hidden/x.ts')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('follows links inside of the library, and ignores all others', async () => {
    const sibling = join(base, 'rec-evil')
    mkdirSync(sibling)
    writeFileSync(join(sibling, 's.ts'), 'canary')
    mkdirSync(join(root, 'real'))
    writeFileSync(join(root, 'real', 'a.ts'), 'inside')
    symlinkSync('real', join(root, 'folder-link'))
    symlinkSync('real/a.ts', join(root, 'file-link.ts'))
    symlinkSync(sibling, join(root, 'out'))
    symlinkSync(join(sibling, 's.ts'), join(root, 'out.ts'))
    symlinkSync('nowhere', join(root, 'dangling.ts'))
    symlinkSync('loop.ts', join(root, 'loop.ts'))
    expect(await names()).toEqual(['file-link.ts', 'folder-link', 'real'])
    expect(await names('folder-link')).toEqual(['a.ts'])
    expect((await storage.stat('folder-link/a.ts')).sizeBytes).toBe(6)
    for (const path of ['out.ts', 'out/s.ts', 'dangling.ts', 'loop.ts']) {
      await expect(storage.open(path)).rejects.toMatchObject({ code: 'not_found' })
      await expect(storage.stat(path)).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(skipped.toSorted()).toEqual([
      'dangling.ts: the link target does not exist',
      'loop.ts: the link target does not exist',
      'out.ts: the link leaves the library',
      'out: the link leaves the library',
    ])
  })

  test('leaves out a FIFO and a socket, and never hangs on them', async () => {
    execFileSync('mkfifo', [join(root, 'fifo.ts')])
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(join(root, 'socket.ts'), resolve))
    try {
      expect(await names()).toEqual([])
      await expect(storage.open('fifo.ts')).rejects.toMatchObject({ code: 'not_found' })
      await expect(storage.open('socket.ts')).rejects.toMatchObject({ code: 'not_found' })
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })

  test('ignores names that are not valid UTF-8, but not the replacement character', async () => {
    writeFileSync(
      Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff]), Buffer.from('.ts')]),
      '',
    )
    writeFileSync(join(root, 'good-\uFFFD.ts'), '')
    expect(await names()).toEqual(['good-\uFFFD.ts'])
    expect(skipped).toEqual(['bad-\uFFFD.ts: the name is not valid UTF-8'])
  })

  test('fails if the root was replaced by an empty folder, as by an unmount', async () => {
    writeFileSync(join(root, 'a.ts'), '')
    expect(await names()).toEqual(['a.ts'])
    // moved, not removed: a new folder might get the inode of one that is gone
    renameSync(root, join(base, 'unmounted'))
    await expect(storage.list('')).rejects.toMatchObject({ code: 'not_found' })
    mkdirSync(root)
    const attempt = storage.list('')
    await expect(attempt).rejects.toMatchObject({ code: 'failed' })
  })
})

test.each([
  '..',
  '../rec-evil/s.ts',
  'a/../../x',
  '/etc/passwd',
  'a//b',
  './a',
  'a\0b',
  'x'.repeat(5000),
])('throws not_found for the path %j', async (path) => {
  mkdirSync(join(base, 'rec-evil'))
  writeFileSync(join(base, 'rec-evil', 's.ts'), 'canary')
  await expect(storage.list(path)).rejects.toMatchObject({ code: 'not_found' })
  await expect(storage.stat(path)).rejects.toMatchObject({ code: 'not_found' })
  await expect(storage.open(path)).rejects.toMatchObject({ code: 'not_found' })
})

/** Until then a file is checked again each time. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 150))

describe('a file that was opened before', () => {
  const readAgain = async (path: string): Promise<string> => {
    const file = await storage.open(path)
    const buffer = Buffer.alloc(20)
    const count = await file.read(buffer, 0)
    await file.close()
    return buffer.toString('utf8', 0, count)
  }

  test('is read as it is now, even if it was replaced or its link has another target', async () => {
    writeFileSync(join(root, 'a.ts'), 'one')
    writeFileSync(join(root, 'b.ts'), 'two')
    symlinkSync('a.ts', join(root, 'link.ts'))
    await settle()
    expect([await readAgain('a.ts'), await readAgain('link.ts')]).toEqual(['one', 'one'])
    rmSync(join(root, 'link.ts'))
    symlinkSync('b.ts', join(root, 'link.ts'))
    writeFileSync(join(root, 'a.ts'), 'three')
    await settle()
    expect([await readAgain('a.ts'), await readAgain('link.ts')]).toEqual(['three', 'two'])
    expect([await readAgain('a.ts'), await readAgain('link.ts')]).toEqual(['three', 'two'])
  })

  test('is not there any more where the path leaves the library now, or is gone', async () => {
    const outside = join(base, 'outside')
    mkdirSync(outside)
    mkdirSync(join(root, 'folder'))
    writeFileSync(join(root, 'folder', 'a.ts'), 'inside')
    writeFileSync(join(root, 'b.ts'), 'inside')
    await settle()
    expect([await readAgain('folder/a.ts'), await readAgain('b.ts')]).toEqual(['inside', 'inside'])
    rmSync(join(root, 'folder'), { recursive: true })
    rmSync(join(root, 'b.ts'))
    // may well get the inode that has just become free
    writeFileSync(join(outside, 'a.ts'), 'canary')
    symlinkSync(outside, join(root, 'folder'))
    for (const path of ['folder/a.ts', 'b.ts', 'folder/a.ts']) {
      await expect(storage.open(path)).rejects.toMatchObject({ code: 'not_found' })
    }
  })
})

describe('a file as it was listed', () => {
  const listSettled = async (): Promise<OpenOptions> => {
    mkdirSync(join(root, 'a/b/c'), { recursive: true })
    writeFileSync(join(root, 'a/b/c/1.ts'), 'one')
    await settle()
    const [entry] = await storage.list('a/b/c', { stats: true })
    return entry?.stat === undefined ? {} : { listed: entry.stat }
  }

  test('is opened with three calls of the file system: open, stat and close', async () => {
    const options = await listSettled()
    const calls = countFileCalls()
    const file = await storage.open('a/b/c/1.ts', options)
    await file.close()
    expect(calls()).toBe(3)
  })

  test('is checked as any other if it has changed since', async () => {
    const options = await listSettled()
    writeFileSync(join(root, 'a/b/c/1.ts'), 'changed')
    const file = await storage.open('a/b/c/1.ts', options)
    expect(file.stat.sizeBytes).toBe(7)
    await file.close()
  })

  test('is not there any more where the path leaves the library now', async () => {
    const options = await listSettled()
    rmSync(join(root, 'a'), { recursive: true })
    mkdirSync(join(base, 'outside'))
    writeFileSync(join(base, 'outside/1.ts'), 'two')
    mkdirSync(join(root, 'a/b'), { recursive: true })
    symlinkSync(join(base, 'outside'), join(root, 'a/b/c'))
    await settle()
    const opening = storage.open('a/b/c/1.ts', options)
    await expect(opening).rejects.toMatchObject({ code: 'not_found' })
  })
})

/** Counts calls that the thread pool of Node executes; each is one system call or more. */
function countFileCalls(): () => number {
  let count = 0
  const hook = createHook({
    init(_id, type) {
      if (type === 'FSREQCALLBACK') count += 1
    },
  }).enable()
  return () => {
    hook.disable()
    return count
  }
}

describe('a root that is a link', () => {
  const readText = async (path: string): Promise<string> => {
    const file = await storage.open(path)
    const buffer = Buffer.alloc(20)
    const count = await file.read(buffer, 0)
    await file.close()
    return buffer.toString('utf8', 0, count)
  }
  const target = (name: string): string => join(base, name)
  /** As `ln -sfn`: the link is replaced, not removed. */
  const switchTo = (name: string): void => {
    symlinkSync(name, join(base, 'new-link'))
    renameSync(join(base, 'new-link'), join(base, 'link'))
  }

  beforeEach(() => {
    for (const name of ['one', 'three', 'one/nested']) {
      mkdirSync(join(target(name), 'alice'), { recursive: true })
      writeFileSync(join(target(name), 'alice', 'a.ts'), name)
    }
    switchTo('one')
    storage = new FolderStorage(join(base, 'link'))
  })

  test('may be switched to another folder, without a listing of the root', async () => {
    expect(await readText('alice/a.ts')).toBe('one')
    switchTo('three')
    writeFileSync(join(target('three'), 'alice', 'b.ts'), 'also three')
    expect(await readText('alice/a.ts')).toBe('three')
    switchTo('one')
    expect((await storage.stat('alice/a.ts')).sizeBytes).toBe(3)
    switchTo('three')
    expect(await names('alice')).toEqual(['a.ts', 'b.ts'])
  })

  test('contains nothing of the folder that it led to before', async () => {
    symlinkSync(target('one/alice/a.ts'), join(target('one/nested'), 'alice', 'out.ts'))
    expect(await readText('nested/alice/out.ts')).toBe('one')
    switchTo('one/nested')
    await expect
      .poll(() => storage.stat('alice/out.ts').catch(({ code }: { code: unknown }) => code), soon)
      .toBe('not_found')
    expect(await readText('alice/a.ts')).toBe('one/nested')
  })

  test('ends its watch when it is switched', async () => {
    const changed: string[] = []
    const watching = storage.watch((folder) => changed.push(folder), new AbortController().signal)
    await expect.poll(() => changed, soon).toEqual([''])
    switchTo('three')
    await expect(watching).rejects.toMatchObject({ code: 'failed' })
  })
})

describe('an open file', () => {
  test('finishes pending reads before it closes, and rejects reads after', async () => {
    writeFileSync(join(root, 'a.ts'), Buffer.alloc(1 << 20, 7))
    const file = await storage.open('a.ts')
    const reads = Array.from({ length: 16 }, () => file.read(Buffer.alloc(1 << 16), 0))
    await Promise.all([file.close(), file.close()])
    expect(await Promise.all(reads)).toEqual(Array.from({ length: 16 }, () => 1 << 16))
    await expect(file.read(Buffer.alloc(1), 0)).rejects.toMatchObject({ code: 'failed' })
  })
})

test('reports changes by folder, first that anything may have changed', async () => {
  mkdirSync(join(root, 'alice/2026-01-31'), { recursive: true })
  const changed: string[] = []
  const stop = new AbortController()
  const watching = storage.watch((folder) => changed.push(folder), stop.signal)
  await expect.poll(() => changed).toEqual([''])
  writeFileSync(join(root, 'alice/2026-01-31/1.ts'), 'x')
  await expect.poll(() => changed).toContain('alice/2026-01-31')
  mkdirSync(join(root, 'bob/2026-01-31'), { recursive: true })
  await expect.poll(() => changed).toContain('bob')
  rmSync(join(root, 'alice'), { recursive: true })
  await expect.poll(() => changed).toContain('alice')
  stop.abort()
  await watching
})

test('reports changes in new folders with subfolders', async () => {
  const stop = new AbortController()
  const changed: string[] = []
  const watching = storage.watch((folder) => changed.push(folder), stop.signal)
  await expect.poll(() => changed).toEqual([''])
  const folders = Array.from({ length: 20 }, (_, i) => `streamer${i}/2026-01-31/night`)
  for (const folder of folders) mkdirSync(join(root, folder), { recursive: true })
  // They are reported once everything in them is watched.
  const streamers = folders.map((_, i) => `streamer${i}`)
  await expect.poll(() => changed).toEqual(expect.arrayContaining(streamers))
  changed.length = 0
  for (const folder of folders) writeFileSync(join(root, folder, '1.ts'), 'x')
  await expect.poll(() => new Set(changed).size).toBe(folders.length)
  expect(new Set(changed)).toEqual(new Set(folders))
  stop.abort()
  await watching
})

test('reports changes in a moved folder by its new name', async () => {
  mkdirSync(join(root, 'alice/2026-01-31'), { recursive: true })
  const changed: string[] = []
  const stop = new AbortController()
  const watching = storage.watch((folder) => changed.push(folder), stop.signal)
  await expect.poll(() => changed).toEqual([''])
  renameSync(join(root, 'alice'), join(root, 'bob'))
  mkdirSync(join(root, 'alice/2026-01-31'), { recursive: true })
  await expect.poll(() => changed).toEqual(expect.arrayContaining(['alice', 'bob']))
  changed.length = 0
  writeFileSync(join(root, 'bob/2026-01-31/1.ts'), 'x')
  await expect.poll(() => changed).toEqual(['bob/2026-01-31'])
  writeFileSync(join(root, 'alice/2026-01-31/1.ts'), 'x')
  await expect.poll(() => changed).toEqual(['bob/2026-01-31', 'alice/2026-01-31'])
  stop.abort()
  await watching
})

test('reports that anything may have changed if events were lost, and keeps watching', async () => {
  mkdirSync(join(root, 'alice'))
  const changed: string[] = []
  const stop = new AbortController()
  const watching = storage.watch((folder) => changed.push(folder), stop.signal)
  await expect.poll(() => changed).toEqual([''])
  for (let number = 0; number < 10_000; number += 1) {
    writeFileSync(join(root, `alice/${number}.ts`), 'x')
  }
  mkdirSync(join(root, 'bob'))
  await expect.poll(() => changed).toEqual(['', ''])
  writeFileSync(join(root, 'bob/1.ts'), 'x')
  await expect.poll(() => changed).toContain('bob')
  stop.abort()
  await watching
})

test('ends to watch where another folder takes the place of the root', async () => {
  const changed: string[] = []
  const { signal } = new AbortController()
  const watching = storage.watch((folder) => changed.push(folder), signal)
  const end = watching.catch((error: unknown) => error)
  await expect.poll(() => changed).toEqual([''])
  renameSync(root, `${root}-away`)
  mkdirSync(root)
  expect(await end).toMatchObject({ code: 'failed' })
})

test('rejects to watch a folder that is not there', async () => {
  rmSync(root, { recursive: true })
  const { signal } = new AbortController()
  await expect(storage.watch(() => undefined, signal)).rejects.toMatchObject({ code: 'not_found' })
})

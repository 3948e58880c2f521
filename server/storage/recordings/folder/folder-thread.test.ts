// Folders read by the thread: its results equal those of asynchronous reads, and what it leaves out
// is read asynchronously.
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FolderStorage } from './folder-storage.ts'
import { FolderThread } from './folder-thread.ts'
import { readFolderAtOnce, STAT_NUMBERS } from './read-folder.ts'
import type { ReadFolder } from './read-folder.ts'
import type { StorageEntry } from '../storage.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'

/** Entries after which the thread is begun. */
const NEED = 1000
const neverSlow = () => false

let base: string
let root: string
let thread: FolderThread

beforeEach(() => {
  base = makeTempFolder('folders')
  root = join(base, 'library')
  mkdirSync(join(root, 'a'), { recursive: true })
  thread = new FolderThread()
})

afterEach(async () => thread.close())

function put(count: number): void {
  for (let at = 0; at < count; at += 1) writeFileSync(join(root, 'a', `${at}.ts`), 'x'.repeat(at))
}

/** Waits until the thread reads: before, all is left to others. */
async function beginThread(): Promise<void> {
  thread.count(NEED)
  await readByThread(root)
}

/**
 * Tries again while the thread is beginning, or leaves folders to others, as it does where the
 * machine is slow.
 */
async function readByThread(path: string): Promise<ReadFolder> {
  for (;;) {
    const read = await thread.read({ path, realRoot: root })
    if (read) return read
    await sleep(5)
    // An idle thread ends.
    thread.count(NEED)
  }
}

/** A listing of the folder `a`, after one of the root, as in a walk. */
async function listing(reader: Pick<FolderThread, 'read' | 'count'> | undefined) {
  const skipped: string[] = []
  const storage = new FolderStorage(root, {
    onSkipped: (reason, path) => skipped.push(`${path}: ${reason}`),
    ...(reader && { folderThread: reader }),
  })
  await storage.list('')
  const entries = await storage.list('a', { stats: true })
  return { entries: sorted(entries), skipped: skipped.toSorted() }
}

/** Keeps the event loop for a while, as who writes what was read. */
function work(milliseconds: number): void {
  const untilMs = performance.now() + milliseconds
  while (performance.now() < untilMs);
}

function sorted(entries: readonly StorageEntry[]): StorageEntry[] {
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

test('the thread reports files, folders, links and odd names like asynchronous reads', async () => {
  put(20)
  mkdirSync(join(root, 'a', 'folder'))
  mkdirSync(join(base, 'outside'))
  writeFileSync(join(root, 'a', '.hidden.ts'), '')
  writeFileSync(join(root, 'a', 'kept-\uFFFD.ts'), 'kept')
  writeFileSync(
    Buffer.concat([Buffer.from(join(root, 'a', 'bad-')), Buffer.from([0xff])]),
    'not found by its name',
  )
  symlinkSync('1.ts', join(root, 'a', 'link.ts'))
  symlinkSync(join(base, 'outside'), join(root, 'a', 'out'))
  symlinkSync('nowhere', join(root, 'a', 'dangling.ts'))
  execFileSync('mkfifo', [join(root, 'a', 'fifo.ts')])
  await beginThread()
  const { files } = await readByThread(join(root, 'a'))
  expect(files).toHaveLength(20)
  const ours = await listing(thread)
  expect(ours.entries).toHaveLength(23)
  expect(ours).toEqual(await listing(undefined))
})

test('a folder outside of the library is not read', async () => {
  mkdirSync(join(base, 'outside'))
  writeFileSync(join(base, 'outside', 'canary.ts'), '')
  symlinkSync(join(base, 'outside'), join(root, 'out'))
  await beginThread()
  expect(await thread.read({ path: join(root, 'out'), realRoot: root })).toBeUndefined()
  const storage = new FolderStorage(root, { folderThread: thread })
  await storage.list('')
  for (const folder of ['out', 'gone']) {
    const listed = storage.list(folder, { stats: true })
    await expect(listed).rejects.toMatchObject({ code: 'not_found' })
  }
})

test('what the thread leaves out because of a slow disk is read asynchronously', async () => {
  put(300)
  const reader = {
    count: () => undefined,
    read: async (request: Parameters<typeof readFolderAtOnce>[0]) =>
      readFolderAtOnce(request, (done) => done >= 7),
  }
  const read = await reader.read({ path: join(root, 'a'), realRoot: root })
  expect(read?.fileStats).toHaveLength(7 * STAT_NUMBERS)
  expect(await listing(reader)).toEqual(await listing(undefined))
})

test('a file that goes while its folder is read is left out', async () => {
  put(3)
  const read = readFolderAtOnce({ path: join(root, 'a'), realRoot: root }, (done) => {
    if (done === 0) unlinkSync(join(root, 'a', '1.ts'))
    return false
  })
  const reader = { count: () => undefined, read: () => Promise.resolve(read) }
  const { entries } = await listing(reader)
  expect(entries.map(({ name }) => name)).toEqual(['0.ts', '2.ts'])
})

test('a missing folder is left to the asynchronous read, which reports the error', () => {
  expect(readFolderAtOnce({ path: join(root, 'b'), realRoot: root }, neverSlow)).toBeUndefined()
})

test('a thread that dies costs no listing, and is started again on demand', async () => {
  put(100)
  await beginThread()
  const storage = new FolderStorage(root, { folderThread: thread })
  await storage.list('')
  // Of fewer entries than begin the thread again.
  const listings = Array.from({ length: 9 }, () => storage.list('a', { stats: true }))
  await thread.close()
  for (const entries of await Promise.all(listings)) expect(entries).toHaveLength(100)
  expect(await thread.read({ path: root, realRoot: root })).toBeUndefined()
  await beginThread()
})

test('while many folders are read, others get their turn', async () => {
  put(100)
  await beginThread()
  let readInTurn = 0
  let mostInTurn = 0
  let isOver = false
  const take = (): void => {
    readInTurn = 0
    if (!isOver) setImmediate(take)
  }
  take()
  const readSome = async (): Promise<void> => {
    for (let at = 0; at < 25; at += 1) {
      await readByThread(join(root, 'a'))
      work(3)
      readInTurn += 1
      mostInTurn = Math.max(mostInTurn, readInTurn)
    }
  }
  await Promise.all(Array.from({ length: 8 }, readSome))
  isOver = true
  expect(mostInTurn).toBeLessThanOrEqual(8)
})

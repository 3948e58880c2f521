import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readRangeHash } from '../../media/index/identity.ts'
import { createFolderStorage } from '../../storage/folder/folder-storage.ts'
import type { FileStat } from '../../storage/storage.ts'
import { GrowingIdentities } from './growing-identities.ts'
import type { GrowingIdentity } from './growing-identities.ts'
import { GrowthRecords } from './growth-records.ts'

const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
const BYTES = Buffer.from('the first bytes of a recording and the last ones')

let folder: string
let records: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'aftercast-growing-'))
  await writeFile(path.join(folder, '1.ts'), BYTES)
  await writeFile(path.join(folder, '1.mp4'), BYTES)
})

beforeEach(async () => {
  records = await mkdtemp(path.join(folder, 'records-'))
})

afterAll(() => rm(folder, { recursive: true }))

const stat: FileStat = { sizeBytes: 1000, modifiedMs: 5, version: 'a' }

/** As every process does: without any memory of earlier calls. */
async function identify(
  isGrowing: boolean,
  now: FileStat,
  at = '1.ts',
): Promise<GrowingIdentity | undefined> {
  const storage = createFolderStorage(folder)
  const onWriteError = (error: unknown): never => {
    throw error
  }
  const file = await storage.open(at)
  const mark = async (offset: number) => {
    const range = { offset, length: 8 }
    return { ...range, hash: (await readRangeHash(file, range)) ?? '' }
  }
  const state = {
    mark: { start: await mark(0), tail: await mark(30) },
    stat: now,
    isGrowing,
    form: 'ts',
    counts: { audioTracks: 1, subtitles: 0 },
    isListedAsGrowing: isGrowing,
  } as const
  await file.close()
  const growing = new GrowingIdentities(
    storage,
    new GrowthRecords({ folder: records, onWriteError }),
  )
  return growing.identify({ session, path: at, name: '1' }, state)
}

test('a recording that was listed while growing keeps its identity at its end', async () => {
  const growing = await identify(true, stat)
  const longer = { sizeBytes: 2000, modifiedMs: 6, version: 'b' }
  expect(await identify(true, longer)).toEqual(growing)
  const finished = await identify(false, { ...longer, modifiedMs: 2, version: 'c' })
  expect(finished?.identity).toBe(growing?.identity)
  expect([growing?.mayGrow, finished?.mayGrow]).toEqual([true, false])
})

test('a finished one that changes without growing has another identity', async () => {
  const first = await identify(true, stat)
  await identify(false, stat)
  // Just written, so it seems to grow.
  const second = await identify(true, { ...stat, modifiedMs: 9, version: 'b' })
  expect(second?.identity).not.toBe(first?.identity)
  expect(second?.mayGrow).toBe(false)
  const third = await identify(false, { ...stat, modifiedMs: 9, version: 'c' })
  expect([first?.identity, second?.identity]).not.toContain(third?.identity)
  expect((await identify(false, { ...stat, modifiedMs: 9, version: 'c' }))?.identity).toBe(
    third?.identity,
  )
})

test('a finished one keeps its identity when it is continued or renamed', async () => {
  const first = await identify(true, stat)
  await identify(false, stat)
  const renamed = await identify(false, { ...stat, version: 'b' }, '1.mp4')
  expect(renamed?.identity).toBe(first?.identity)
  const longer = await identify(true, { sizeBytes: 1001, modifiedMs: 9, version: 'c' }, '1.mp4')
  expect(longer).toEqual(first)
})

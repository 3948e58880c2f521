// Growth records on disk: their format, and what happens if they cannot be used.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { GrowthRecords, NotRecorded } from './growth-records.ts'
import type { GrowthRecord, SessionGrowth } from './growth-records.ts'

const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
const record: GrowthRecord = {
  generation: 0,
  startHash: 'a',
  tail: { offset: 0, length: 4, hash: 'b' },
  form: 'ts',
  counts: { audioTracks: 2, subtitles: 1 },
}

let base: string
let errors: unknown[]

beforeEach(() => {
  base = makeTempFolder('growth')
  errors = []
})

function openRecords(): GrowthRecords {
  return new GrowthRecords({ folder: base, onWriteError: (error) => errors.push(error) })
}

async function add(name: string): Promise<void> {
  const decide = async () => ({ value: undefined, change: { [name]: record } })
  await openRecords().update({ session, name }, decide)
}

async function read(): Promise<SessionGrowth> {
  return openRecords().update({ session }, async (value) => ({ value }))
}

/** The files of the only session. */
async function files(): Promise<string[]> {
  const entries = await readdir(base, { recursive: true, withFileTypes: true })
  const found = entries.filter((entry) => entry.isFile())
  return found.map(({ parentPath, name }) => join(parentPath, name))
}

test('stores the counts of renditions under the names of version 0.1', async () => {
  await add('1')
  const [file = ''] = await files()
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    format: 'aftercast-grown-1',
    recordings: { '1': { counts: { ['sounds']: 2, texts: 1 } } },
  })
  expect(await read()).toEqual({ '1': record })
})

test('keeps one file per session, with all of its recordings', async () => {
  expect(await openRecords().wasListed(session)).toBe(false)
  await openRecords().recordListed(session)
  expect(await openRecords().wasListed(session)).toBe(true)
  for (const name of ['1', '2', '3']) await add(name)
  await openRecords().recordListed(session)
  expect(await read()).toEqual({ '1': record, '2': record, '3': record })
  expect(await files()).toHaveLength(1)
  expect(errors).toEqual([])
})

test('does not replace records that are corrupt, or of a later release', async () => {
  await add('1')
  const [file = ''] = await files()
  await writeFile(file, '{"format":"aftercast-grown-9"}')
  await expect(add('2')).rejects.toBeInstanceOf(NotRecorded)
  expect(await readFile(file, 'utf8')).toContain('grown-9')
  expect(await openRecords().wasListed(session)).toBe(false)
  expect(errors).toHaveLength(1)
})

test('rejects where it cannot write', async () => {
  await add('1')
  const [file = ''] = await files()
  await rm(dirname(dirname(file)), { recursive: true })
  await writeFile(dirname(dirname(file)), '')
  await expect(add('2')).rejects.toBeInstanceOf(NotRecorded)
  await rm(dirname(dirname(file)))
  await mkdir(dirname(dirname(file)))
  await add('2')
  expect(await read()).toEqual({ '2': record })
})

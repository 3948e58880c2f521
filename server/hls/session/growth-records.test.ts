// Growth records on disk, which the previous version reads and writes too, and among the artifacts
// that nodes share.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FolderArtifacts } from '../../artifacts/folder-artifacts.ts'
import { SharedArtifacts } from '../../artifacts/shared-artifacts.ts'
import { GrowthRecords } from './growth-records.ts'
import type { GrowthRecord } from './growth-records.ts'

const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
const record: GrowthRecord = {
  generation: 0,
  startHash: 'a',
  tail: { offset: 0, length: 4, hash: 'b' },
  form: 'ts',
  counts: { audioTracks: 2, subtitles: 1 },
}

let base: string

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'aftercast-growth-'))
})

afterEach(() => rm(base, { recursive: true }))

function openRecords(node: string, shared?: SharedArtifacts): GrowthRecords {
  return new GrowthRecords({
    folder: join(base, node),
    shared,
    onWriteError: (error) => {
      throw error
    },
  })
}

/** The artifacts as one node has them. */
function openArtifacts(): SharedArtifacts {
  const log = { warn: (_details: object, message: string) => expect.unreachable(message) }
  return new SharedArtifacts({ store: new FolderArtifacts(base), log })
}

test('stores the counts of renditions under the names of version 0.1', async () => {
  const records = openRecords('a')
  await records.add(session, { '1': record })
  const [name = ''] = (await readdir(base, { recursive: true })).filter((path) =>
    path.endsWith('.json'),
  )
  const stored: unknown = JSON.parse(await readFile(join(base, name), 'utf8'))
  expect(stored).toMatchObject({
    format: 'aftercast-grown-1',
    recordings: { '1': { counts: { ['sounds']: 2, texts: 1 } } },
  })
  expect(await records.read(session)).toEqual({ '1': record })
})

test('a node has the records of all others, and adds to them', async () => {
  const artifacts = openArtifacts()
  await openRecords('a', artifacts).add(session, {})
  await openRecords('a', artifacts).add(session, { '1': record })
  await artifacts.close()

  const laterArtifacts = openArtifacts()
  const later = openRecords('b', laterArtifacts)
  expect(await later.read(session)).toEqual({ '1': record })
  await later.add(session, { '2': { ...record, generation: 1 } })
  await laterArtifacts.close()
  expect(await openRecords('c', openArtifacts()).read(session)).toEqual({
    '1': record,
    '2': { ...record, generation: 1 },
  })
  // Its own copy needs no shared one.
  expect(await openRecords('b').read(session)).toMatchObject({ '1': record })
})

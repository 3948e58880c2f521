// Growth records on disk, which the previous version reads and writes too.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GrowthRecords } from './growth-records.ts'

test('stores the counts of renditions under the names of version 0.1', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'aftercast-growth-'))
  try {
    const records = new GrowthRecords({
      folder,
      onWriteError: (error) => {
        throw error
      },
    })
    const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
    const record = {
      generation: 0,
      startHash: 'a',
      tail: { offset: 0, length: 4, hash: 'b' },
      form: 'ts' as const,
      counts: { audioTracks: 2, subtitles: 1 },
    }
    await records.add(session, { '1': record })
    const [name = ''] = (await readdir(folder, { recursive: true })).filter((path) =>
      path.endsWith('.json'),
    )
    const stored: unknown = JSON.parse(await readFile(join(folder, name), 'utf8'))
    expect(stored).toMatchObject({
      format: 'aftercast-grown-1',
      recordings: { '1': { counts: { ['sounds']: 2, texts: 1 } } },
    })
    expect(await records.read(session)).toEqual({ '1': record })
  } finally {
    await rm(folder, { recursive: true })
  }
})

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { soon } from '../../test/support/patience.ts'
import { loadConfig } from '../base/config/load-config.ts'
import { openLibrary } from './library.ts'
import { makeTempFolder } from '../../test/support/temp-folder.ts'

const PLAYLISTS = 20
const { signal } = new AbortController()

test('reads no more playlists of recorders at once than the gate admits', async () => {
  const root = makeTempFolder('library')
  const recordings = join(root, 'recordings')
  mkdirSync(recordings)
  const text = `#EXTM3U\n#EXTINF:1,\na.ts\n`
  writeFileSync(join(recordings, 'a.ts'), 'x')
  const names = Array.from({ length: PLAYLISTS }, (_, i) => `${i}.m3u8`)
  for (const name of names) writeFileSync(join(recordings, name), text)
  const flags = { recordings, data: root }
  const config = loadConfig({ flags, environment: {}, workingFolder: root, cpuCount: 1 })
  const location = { kind: 'folder', path: recordings } as const
  const logger = pino({ level: 'silent' })
  const library = await openLibrary({ config, location, mode: 'private', logger, signal })
  try {
    const { playlistBytes } = library.admission
    const release = await playlistBytes.enter(signal, Infinity)
    const lists = names.map(async (name) => library.storage.listRuns(name))
    await vi.waitFor(() => expect(playlistBytes.figures.waiting).toBe(PLAYLISTS), soon)
    expect(library.figures().index.jobs).toBe(0)
    release()
    for (const runs of await Promise.all(lists)) expect(runs).toHaveLength(1)
    expect(playlistBytes.figures).toMatchObject({ used: 0, waiting: 0 })
  } finally {
    await library.close()
  }
})

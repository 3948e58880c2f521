import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { makeTempFolder } from '../../test/support/temp-folder.ts'
import { recordLiveSession } from './live-session.ts'

const startMs = Date.UTC(2026, 0, 31, 20)
const content = Buffer.from(Array.from({ length: 6040 }, (_, at) => at % 251))

let library: string
beforeEach(async () => {
  library = makeTempFolder('live')
  await mkdir(join(library, 'bytecrafter', '2025-10-05'), { recursive: true })
  await writeFile(join(library, 'bytecrafter', '2025-10-05', '2101.ts'), content)
  await writeFile(join(library, 'bytecrafter', 'streamer.json'), '{}')
})

test('grows as fast as it plays, to an equal file', async () => {
  const path = join(library, 'bytecrafter', '2026-01-31', 'live.ts')
  const sizes: number[] = []
  const wait = async () => void sizes.push((await stat(path)).size)
  const { signal } = new AbortController()
  await recordLiveSession(library, { signal, startMs, wait })
  expect(sizes).toEqual(Array.from({ length: 604 }, (_, at) => 10 * (at + 1)))
  expect(await readFile(path)).toEqual(content)
  // The next start replaces it.
  const leaving = new AbortController()
  const leave = async () => leaving.abort(new Error('stopped'))
  const next = { signal: leaving.signal, startMs: startMs + 86_400_000 }
  await recordLiveSession(library, {
    ...next,
    wait: async () => leave().then(() => Promise.reject(new Error('stopped'))),
  })
  expect(await readdir(join(library, 'bytecrafter', '2026-01-31'))).toEqual([])
  expect((await stat(join(library, 'bytecrafter', '2026-02-01', 'live.ts'))).size).toBe(10)
})

test('is not in another library', async () => {
  await rm(join(library, 'bytecrafter', '2025-10-05', '2101.ts'))
  const { signal } = new AbortController()
  await recordLiveSession(library, { signal, startMs })
  expect(await readdir(join(library, 'bytecrafter'))).toEqual(['2025-10-05', 'streamer.json'])
})

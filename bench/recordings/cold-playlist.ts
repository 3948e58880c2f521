// The time of a first playlist: from a running server that has listed the recording and never read
// it.
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { playlistApiPath } from '../../shared/paths.ts'
import { fetchPlaylist } from '../../test/support/servers/hls-client.ts'
import { startServer } from '../../test/support/servers/start-server.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import type { ForgetFile } from './cold-file.ts'

/**
 * A recording that makes the server start its index thread before anything is measured, as earlier
 * ones did in its life.
 */
const FIRST_RECORDING = path.resolve(
  import.meta.dirname,
  '../../test/fixtures/media/mp4-h264-aac-moov-first.mp4',
)
const DAY = { streamer: 'bench', date: '2026-01-31' }

/**
 * Seconds from the request to the complete playlist. The recording must be on the same disk as the
 * cache.
 */
export async function timePlaylist(
  recording: string,
  { cache, forget }: { cache: string; forget: ForgetFile },
): Promise<number> {
  const scratch = mkdtempSync(path.join(cache, 'cold-'))
  const library = path.join(scratch, 'library')
  const data = path.join(scratch, 'data')
  const day = path.join(library, DAY.streamer, DAY.date)
  mkdirSync(day, { recursive: true })
  copyFileSync(FIRST_RECORDING, path.join(day, 'first.mp4'))
  linkSync(recording, path.join(day, 'movie.mp4'))
  try {
    await withServer([library, '--data', data], async ({ url }) => {
      await fetchPlaylist(url + playlistApiPath({ ...DAY, sessionId: 'first' }))
      await fetchPlaylist(url + playlistApiPath({ ...DAY, sessionId: 'movie' }))
    })
    // Listed in the catalog they stay.
    rmSync(path.join(data, 'indexes'), { recursive: true })
    return await withServer([library, '--data', data], async ({ url }) => {
      await fetchPlaylist(url + playlistApiPath({ ...DAY, sessionId: 'first' }))
      forget(recording)
      const started = performance.now()
      await fetchPlaylist(url + playlistApiPath({ ...DAY, sessionId: 'movie' }))
      return (performance.now() - started) / 1000
    })
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function withServer<T>(
  args: string[],
  ask: (server: StartedServer) => Promise<T>,
): Promise<T> {
  const environment = { AFTERCAST_WORKERS: '1' }
  const server = await startServer({ args, environment })
  try {
    return await ask(server)
  } finally {
    await server.stop()
  }
}

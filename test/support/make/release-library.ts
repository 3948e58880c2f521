// The small library over which each release has made its fixture (test/fixtures/releases), and what
// its server said of it.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { SessionReference } from '../../../shared/paths.ts'
import { playlistApiPath } from '../../../shared/paths.ts'
import { fetchAvailable, fetchPlaylist } from '../servers/hls-client.ts'
import type { ListedPlaylist } from '../servers/hls-client.ts'
import { BROKEN_FIXTURE, fixturePath, RECORDED_AT, SMALL_FIXTURE } from '../temp-library.ts'
import type { TempLibrary } from '../temp-library.ts'
import { makeLargeRecording } from './make-large-recording.ts'

const date = '2026-01-31'

/** A session with views; its title is `One`. */
export const WATCHED = { streamer: 'alice', date, sessionId: '1' }
/** A session that was listed while it was growing. */
export const GROWN = { streamer: 'carol', date, sessionId: '1' }
/** A session whose identity has a record: its bytes are not all part of it. */
export const LARGE = { streamer: 'dora', date, sessionId: '1' }
export const HIDDEN_NAMES = [`alice/${date}/2`, 'bob']
/** Times that `WATCHED` was played. */
export const PLAYS = 3

const GROWN_FIXTURE = 'ts-h264-aac-clean-hls-concat.ts'
/** Above what is hashed as a whole. */
const LARGE_BYTES = 20 * 1024 * 1024

/** @param grown whether the recording that grows is still being written, or finished */
export async function placeReleaseLibrary(
  library: TempLibrary,
  grown: 'growing' | 'finished',
): Promise<void> {
  await library.place(`alice/${date}/1.mp4`, SMALL_FIXTURE)
  await library.place(`alice/${date}/1.info.json`, Buffer.from('{"title":"One"}'))
  await library.place(`alice/${date}/2.mp4`, SMALL_FIXTURE)
  await library.place(`alice/${date}/3.mp4`, BROKEN_FIXTURE)
  await library.place(`bob/${date}/1.mp4`, SMALL_FIXTURE)
  await library.place(`dora/${date}/1.ts`, makeLargeRecording(LARGE_BYTES))
  const bytes = readFileSync(fixturePath(GROWN_FIXTURE))
  const isGrowing = grown === 'growing'
  const written = isGrowing ? bytes.subarray(0, bytes.length * 0.6) : bytes
  await library.place(`carol/${date}/1.ts`, written, isGrowing ? new Date() : RECORDED_AT)
}

/** What a server said: SHA-256 of the bytes by path, of immutable responses alone. */
export const saidResponses = z.record(z.string(), z.string())
export type SaidResponses = z.infer<typeof saidResponses>

/** Requests everything that the playlist of a session lists. */
export async function readImmutable(
  server: { url: string },
  session: SessionReference,
): Promise<SaidResponses> {
  const playlist = await fetchPlaylist(server.url + playlistApiPath(session))
  const said: SaidResponses = {}
  for (const url of urlsOf(playlist)) {
    const response = await fetchAvailable(url)
    if (!response.ok) throw new Error(`${response.status} for ${url}`)
    const hash = await hashOf(response)
    const isImmutable = response.headers.get('cache-control')?.includes('immutable') === true
    if (isImmutable) said[new URL(url).pathname] = hash
  }
  return said
}

export async function hashOf(response: Response): Promise<string> {
  return createHash('sha256')
    .update(Buffer.from(await response.arrayBuffer()))
    .digest('hex')
}

function urlsOf({ segments }: ListedPlaylist): Set<string> {
  return new Set(segments.flatMap(({ url, initUrl }) => [url, ...(initUrl ? [initUrl] : [])]))
}

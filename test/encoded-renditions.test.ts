// Renditions that are encoded on demand, through the program: what they promise to players, caches
// and other nodes.
import { createHash } from 'node:crypto'
import { appendFile, readFile, utimes } from 'node:fs/promises'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { sessionResponse } from '../shared/contract.ts'
import type { SessionResponse } from '../shared/contract.ts'
import { playlistApiPath, sessionApiPath } from '../shared/paths.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { soon } from './support/patience.ts'
import { fetchAvailable, fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import type { ListedPlaylist } from './support/servers/hls-client.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath, RECORDED_AT } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { readFragment } from './support/verify/read-fragment.ts'

/** 640x360 at 24 frames per second, with key frames up to ten seconds apart. */
const RECORDING = 'mkv-h264-aac-60s.mkv'
const SMALL = 'mp4-hevc-hvc1-aac.mp4'
const HDR = 'mp4-av1-10bit-aac-portrait.mp4'
const PARTS = ['mp4-h264-aac-moov-first.mp4', 'mp4-h264-resolution-change-two-stsd.mp4'] as const
const IMMUTABLE = 'public, max-age=31536000, immutable'
const HEIGHT = '360p'
/** Longer than the tests take. */
const SETTLE_SECONDS = 3600

let library: TempLibrary
/** Two nodes with the same secret and nothing else in common. */
let servers: StartedServer[]

beforeAll(async () => {
  library = await createTempLibrary('encoded')
  await library.place('alice/2026-01-31/vfr.mp4', 'mp4-h264-vfr.mp4')
  await library.place('alice/2026-01-31/whole.mp4', PARTS[0])
  await library.place('alice/2026-01-31/long.mkv', RECORDING)
  await library.place('alice/2026-01-31/small.mp4', SMALL)
  await library.place('alice/2026-01-31/hdr.mp4', HDR)
  await library.place('alice/2026-01-31/hidden.mp4', 'mp4-h264-vfr.mp4')
  for (const [at, name] of PARTS.entries()) {
    await library.place(`alice/2026-01-31/parts/${at}.mp4`, name)
  }
  servers = await Promise.all(
    ['1', '2'].map(async (workers) =>
      startServer({
        args: [library.recordings, '--data', `${library.data}-${workers}`],
        settings: { library: { settleSeconds: SETTLE_SECONDS } },
        environment: {
          AFTERCAST_WORKERS: workers,
          AFTERCAST_HLS_SECRET: 'secret',
          AFTERCAST_RENDITIONS_VIDEO: HEIGHT,
          AFTERCAST_RENDITIONS_CONCURRENCY: '1',
        },
      }),
    ),
  )
})

function reference(sessionId: string) {
  return { streamer: 'alice', date: '2026-01-31', sessionId }
}

function urlOf(sessionId: string, node = 0): string {
  return `${servers[node]?.url}${playlistApiPath(reference(sessionId))}?quality=${HEIGHT}`
}

async function listed(sessionId: string, node = 0): Promise<ListedPlaylist> {
  return vi.waitFor(async () => fetchPlaylist(urlOf(sessionId, node)), soon)
}

async function detailsOf(sessionId: string): Promise<SessionResponse> {
  return vi.waitFor(async () => {
    const response = await fetch(`${servers[0]?.url}${sessionApiPath(reference(sessionId))}`)
    const details = parseExactly(sessionResponse, await response.json())
    expect(details.qualities).not.toEqual([])
    return details
  }, soon)
}

async function hashesOf({ segments }: ListedPlaylist): Promise<string[]> {
  const hashes: string[] = []
  for (const segment of segments) {
    hashes.push(
      createHash('sha256')
        .update(await fetchSegment(segment))
        .digest('hex'),
    )
  }
  return hashes
}

describe.concurrent('encoded renditions', () => {
  it('are in the menu between the original and the data saver', async () => {
    const { qualities } = await detailsOf('whole')
    expect(qualities.map(({ label }) => label)).toEqual([
      'Original',
      HEIGHT,
      'Data saver',
      'Sound only',
    ])
    expect(qualities[1]).toMatchObject({ id: HEIGHT, codecs: 'avc1.640028,mp4a.40.2' })
  })

  it.each([
    ['small', 'smaller video'],
    ['hdr', 'HDR'],
  ])('are not offered by the session %s: %s', async (sessionId) => {
    // What is not known in time is listed.
    await vi.waitFor(async () => {
      const { qualities } = await detailsOf(sessionId)
      expect(qualities.map(({ id }) => id)).not.toContain(HEIGHT)
    }, soon)
    const response = await fetchAvailable(urlOf(sessionId))
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'no_such_quality' } })
  })

  it('have equal URLs and bytes on nodes that share nothing but the secret', async () => {
    const [first, second] = [await listed('vfr', 0), await listed('vfr', 1)]
    expect(second.text).toBe(first.text)
    expect(await hashesOf(second)).toEqual(await hashesOf(first))
  })

  it('are immutable, with URLs and keys of their own', async () => {
    const { segments } = await listed('vfr')
    const [segment] = segments
    const original = await fetchPlaylist(urlOf('vfr').replace(/\?.*/, ''))
    for (const url of [segment?.url, segment?.initUrl]) {
      const { headers } = await fetchAvailable(url ?? '')
      expect(headers.get('cache-control')).toBe(IMMUTABLE)
    }
    const versionOf = (url = '') => new URL(url).pathname.split('/').at(-2)
    expect(versionOf(segment?.url)).not.toBe(versionOf(original.segments[0]?.url))
    // Names of the original do not exist under the version of the encoder, nor the reverse.
    const swapped = segment?.url.replace(/v360-0-/, '') ?? ''
    expect((await fetchAvailable(swapped)).status).toBe(404)
  })

  it('have no gap and no overlap between segments', async () => {
    const { segments } = await listed('long')
    let endTicks: number | undefined
    for (const segment of segments.slice(0, 4)) {
      const { initUrl: _, ...alone } = segment
      const { samples } = readFragment(await fetchSegment(alone))
      const video = samples.filter(({ trackId }) => trackId === 1)
      const [first, last] = [video.at(0), video.at(-1)]
      if (first === undefined || last === undefined) throw new Error('there is no video')
      expect(first.decodeTicks).toBe(endTicks ?? first.decodeTicks)
      endTicks = last.decodeTicks + last.durationTicks
    }
  })

  it('have an init segment for each part and size of a session', async () => {
    const { segments, text } = await listed('parts')
    const discontinuities = segments.filter(({ isDiscontinuity }) => isDiscontinuity).length
    const inits = [...new Set(segments.map(({ initUrl }) => initUrl))]
    expect(inits.length).toBe(discontinuities + 1)
    expect(text.match(/#EXT-X-MAP/g)?.length).toBe(inits.length)
  })

  it('only grow while a recording grows', async () => {
    const recording = await readFile(fixturePath(RECORDING))
    const path = 'alice/2026-01-31/live.mkv'
    const part = Math.floor(recording.length * 0.7)
    await library.place(path, recording.subarray(0, part), new Date())
    const before = await listed('live')
    expect(before.isEnded).toBe(false)
    const hashes = await hashesOf(before)
    await appendFile(library.pathOf(path), recording.subarray(part))
    await utimes(library.pathOf(path), RECORDED_AT, RECORDED_AT)
    const after = await vi.waitFor(async () => {
      const playlist = await fetchPlaylist(urlOf('live'))
      expect(playlist.isEnded).toBe(true)
      return playlist
    }, soon)
    expect(after.text.startsWith(before.text)).toBe(true)
    expect((await hashesOf(after)).slice(0, hashes.length)).toEqual(hashes)
  })

  it('are gone with a hidden session', async () => {
    const { segments } = await listed('hidden')
    const [segment] = segments
    await fetchAvailable(segment?.url ?? '')
    await runInProcess(['hide', 'alice/2026-01-31/hidden', '--data', `${library.data}-1`], {
      workingFolder: library.folder,
    })
    for (const url of [urlOf('hidden'), segment?.initUrl, segment?.url, segment?.key?.url]) {
      const { origin, pathname, search } = new URL(url ?? '')
      const status = async () => (await rawRequest(origin, pathname + search)).status
      await vi.waitFor(async () => expect(await status()).toBe(410), soon)
    }
  })
})

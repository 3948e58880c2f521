// Audio that no browser plays, through the program: quality, synchronisation and cost of the
// transcoded audio.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readProcessSeconds } from '../bench/machine.ts'
import { clarity } from './support/verify/compare-audio.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { decodeWhole, readAudio } from './support/make/make-audio.ts'
import type { DecodedAudio } from './support/make/make-audio.ts'
import { soon } from './support/patience.ts'
import { readReferencePackets } from './support/verify/reference-packets.ts'
import type { ReferencePacket } from './support/verify/reference-packets.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

/** Maximum shift between audio and video. */
const SYNC_TOLERANCE_SECONDS = 0.005
/**
 * Processor time of all segments of one recording, including the start of the transcoder.
 */
const MAX_CPU_SECONDS = 10
const RECORDINGS = [
  { name: 'mp4-h264-mp3.mp4', decoder: 'mp3float', sampleRate: 44_100, noiseBelow: 25 },
  { name: 'ts-ac3-51-audio-only.ts', decoder: 'ac3', sampleRate: 48_000, noiseBelow: 20 },
]

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('audio')
  for (const { name } of RECORDINGS) await library.place(`alice/2026-01-31/${name}`, name)
  server = await startServer({ args: library.args })
})

interface Served {
  audio: DecodedAudio
  frames: number[]
  packets: ReferencePacket[]
}

async function readServed(name: string): Promise<Served> {
  const id = encodeURIComponent(name.replace(/\.\w+$/, ''))
  const url = `${server.url}/api/video/alice/2026-01-31/${id}/playlist.m3u8`
  const { segments } = await fetchPlaylist(url)
  const audioTracks = []
  const packets: ReferencePacket[] = []
  for (const [number, segment] of segments.entries()) {
    const file = path.join(library.folder, `${name}.${number}.mp4`)
    await writeFile(file, await fetchSegment(segment))
    audioTracks.push(await readAudio(file))
    packets.push(...(await readReferencePackets(file)))
  }
  const [first] = audioTracks
  if (first === undefined) throw new Error('nothing is listed')
  const joined = { format: first.format, packets: audioTracks.flatMap((audio) => audio.packets) }
  return {
    audio: decodeWhole(joined, { decoder: 'aac', channels: 2 }),
    frames: joined.packets.map(({ position }) => position),
    packets,
  }
}

/** Start of the timeline: the first video frame, or without video the first audio frame. */
function startSeconds(packets: readonly ReferencePacket[]): number {
  const frames = packets.filter(({ kind }) => kind === 'video')
  const timed = frames.length > 0 ? frames : packets
  return Math.min(...timed.map(({ ptsSeconds }) => ptsSeconds))
}

describe('recordings with audio that no browser plays', () => {
  it.each(RECORDINGS)(
    '$name: has the audio of the source, without gaps, in sync with its video',
    async ({ name, decoder, sampleRate, noiseBelow }) => {
      const source = await readAudio(fixturePath(name))
      const reference = decodeWhole(source, { decoder, channels: 2 })
      const before = readProcessSeconds(server.pid)
      const served = await readServed(name)
      const [first = 0] = served.frames
      expect(served.frames).toEqual(served.frames.map((_, number) => first + number * 1024))
      const shift =
        startSeconds(served.packets) - startSeconds(await readReferencePackets(fixturePath(name)))
      const expectedLag = Math.round(shift * sampleRate)
      const tolerance = SYNC_TOLERANCE_SECONDS * sampleRate
      const length = reference.samples[0]?.length ?? 0
      const middle = reference.start + Math.floor(length / 2)
      const lags = Array.from(
        { length: Math.ceil(tolerance) * 2 },
        (_, i) => i - Math.ceil(tolerance),
      )
      const best = lags
        .map((lag) => expectedLag + lag)
        .map((lag) => ({
          lag,
          clear: clarity(reference, served.audio, { from: middle, to: middle + 4096, lag }),
        }))
        .reduce((left, right) => (right.clear > left.clear ? right : left))
      const span = {
        from: reference.start + 4096,
        to: reference.start + length - 4096,
        lag: best.lag,
      }
      expect(clarity(reference, served.audio, span)).toBeGreaterThan(noiseBelow)
      expect(readProcessSeconds(server.pid) - before).toBeLessThan(MAX_CPU_SECONDS)
    },
  )

  it('another server returns the same bytes', async () => {
    const url = `${server.url}/api/video/alice/2026-01-31/mp4-h264-mp3/playlist.m3u8`
    const [segment] = (await fetchPlaylist(url)).segments
    if (segment === undefined) throw new Error('nothing is listed')
    const bytes = await fetchSegment(segment)
    const other = await createTempLibrary('sound-again')
    await other.place('alice/2026-01-31/mp4-h264-mp3.mp4', 'mp4-h264-mp3.mp4')
    const again = await startServer({ args: other.args })
    const elsewhere = url.replace(server.url, again.url)
    const [same] = (await fetchPlaylist(elsewhere)).segments
    if (same === undefined) throw new Error('nothing is listed')
    expect((await fetchSegment(same)).equals(bytes)).toBe(true)
  })

  it('that no node could claim may change: caches store it for a minute', async () => {
    const artifacts = path.join(library.folder, 'artifacts')
    // Where the folder of the audio would be.
    const obstacle = path.join(artifacts, 'audio-1')
    await mkdir(artifacts)
    await writeFile(obstacle, '')
    const node = await startServer({
      args: [library.recordings, '--data', path.join(library.folder, 'node')],
      environment: { AFTERCAST_ARTIFACTS: artifacts },
    })
    const session = `${node.url}/api/video/alice/2026-01-31/mp4-h264-mp3`
    const [segment] = (await fetchPlaylist(`${session}/playlist.m3u8`)).segments
    if (segment === undefined) throw new Error('nothing is listed')
    const request = async () => {
      const response = await fetch(segment.url)
      const bytes = Buffer.from(await response.arrayBuffer())
      const [caching, etag] = ['cache-control', 'etag'].map((name) => response.headers.get(name))
      return { bytes, caching, etag }
    }
    const before = await request()
    expect(before.caching).toBe('public, max-age=60')
    expect(await request()).toEqual(before)
    await rm(obstacle)
    await expect.poll(async () => (await request()).caching, soon).toContain('immutable')
    const after = await request()
    expect(after.bytes.equals(before.bytes)).toBe(true)
    expect(after.etag).not.toBe(before.etag)
  })
})

// HLS has every packet of a recording once, unchanged, at its time: compared with FFmpeg's reading
// of the source.
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { sessionResponse } from '../shared/contract.ts'
import type { SessionResponse } from '../shared/contract.ts'
import { playlistApiPath, sessionApiPath } from '../shared/paths.ts'
import type { SessionReference } from '../shared/paths.ts'
import { soon } from './support/patience.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import type { ListedPlaylist } from './support/servers/hls-client.ts'
import { playFile } from './support/verify/play-segments.ts'
import type { PlayedSegment } from './support/verify/play-segments.ts'
import { readReferencePackets } from './support/verify/reference-packets.ts'
import type { ReferencePacket } from './support/verify/reference-packets.ts'
import { readFragment } from './support/verify/read-fragment.ts'
import { remux } from './support/make/remux.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { makeTempFolder } from './support/temp-folder.ts'

const FIXTURES = fileURLToPath(new URL('./fixtures/media/', import.meta.url))
/** Long ago: a new file counts as growing. */
const RECORDED_AT = new Date('2026-01-31T20:00:00Z')
/** By a sidecar of each recording. */
const STARTED_AT_MS = Date.UTC(2026, 0, 31, 18, 0, 0, 250)
/** Maximum difference between EXTINF and the packets. */
const EXTINF_TOLERANCE_SECONDS = 0.05
/** Rounding of times to ticks of MPEG-TS, and to samples of audio. */
const ROUNDING_SECONDS = 3 / 90_000
/** Maximum change of the offset between audio and video. */
const OFFSET_TOLERANCE_SECONDS = 0.01

let folder: string
let data: string
let server: StartedServer
/**
 * A bit rate at which segments are in file order, with block and tag headers in between.
 */
const REMUXED_FROM = 'mp4-h264-aac-moov-first.mp4'
const REMUXED = ['remuxed-mkv.mkv', 'remuxed-flv.flv']
const names = [...(await readdir(FIXTURES)).filter(isServed), ...REMUXED]

/**
 * The recordings that are served completely and unchanged in one playlist.
 */
function isServed(name: string): boolean {
  return (
    /\.(mp4|mov|ts|mkv|webm|flv)$/.test(name) &&
    !/unreadable|mpeg2|ac3|mp3|corrupted|ts-hevc|vp8|h263/.test(name)
  )
}

beforeAll(async () => {
  folder = makeTempFolder('exactness')
  await mkdir(join(folder, 'alice/2026-01-31'), { recursive: true })
  for (const name of names) {
    if (REMUXED.includes(name)) await remux(join(FIXTURES, REMUXED_FROM), recordingPath(name))
    else await copyFile(join(FIXTURES, name), recordingPath(name))
    await utimes(recordingPath(name), RECORDED_AT, RECORDED_AT)
    const sidecar = recordingPath(name.replace(/\.\w+$/, '.info.json'))
    await writeFile(sidecar, JSON.stringify({ timestamp: STARTED_AT_MS / 1000 }))
  }
  data = makeTempFolder('exactness-data')
  const args = [folder, '--data', data]
  server = await startServer({
    args,
    environment: { AFTERCAST_RENDITIONS_VIDEO: '360p' },
  })
})

function recordingPath(name: string): string {
  return join(folder, 'alice/2026-01-31', name)
}

/** Kind of packets. */
type Kind = 'video' | 'audio'

interface ServedSegment {
  durationSeconds: number
  packets: ReferencePacket[]
  played: PlayedSegment
}

function referenceOf(name: string): SessionReference {
  return { streamer: 'alice', date: '2026-01-31', sessionId: name.replace(/\.\w+$/, '') }
}

async function listed(name: string, quality = 'original'): Promise<ListedPlaylist> {
  const path = playlistApiPath(referenceOf(name))
  return fetchPlaylist(`${server.url}${path}?quality=${quality}`)
}

async function detailsOf(name: string): Promise<SessionResponse> {
  const response = await fetch(server.url + sessionApiPath(referenceOf(name)))
  return parseExactly(sessionResponse, await response.json())
}

interface ServedRecording {
  playlist: ListedPlaylist
  segments: ServedSegment[]
}

const servedByName = new Map<string, Promise<ServedRecording>>()
const sourcesByName = new Map<string, Promise<ReferencePacket[]>>()

/** Every segment, read once for all tests. */
async function servedOf(name: string, quality = 'original'): Promise<ServedRecording> {
  const key = `${name} ${quality}`
  const recording = servedByName.get(key) ?? readServed(name, quality)
  servedByName.set(key, recording)
  return recording
}

/** The packets of the source, read once for all tests. */
async function sourceOf(name: string): Promise<ReferencePacket[]> {
  const read = async () => readReferencePackets(recordingPath(name), {}, hashTwice)
  const packets = sourcesByName.get(name) ?? read()
  sourcesByName.set(name, packets)
  return packets
}

async function readServed(name: string, quality: string): Promise<ServedRecording> {
  const playlist = await listed(name, quality)
  const segments: ServedSegment[] = []
  for (const [i, segment] of playlist.segments.entries()) {
    const container = segment.initUrl === undefined ? 'ts' : 'mp4'
    const path = join(folder, `${name}.${quality}.${i}.${container}`)
    await writeFile(path, await fetchSegment(segment))
    segments.push({
      durationSeconds: segment.durationSeconds,
      packets: await readReferencePackets(path, {}, hashTwice),
      played: await playFile(path),
    })
    await rm(path)
  }
  return { playlist, segments }
}

/** Of the bytes, and of the frame of audio as fMP4 has it (ISO/IEC 13818-7 6.2: ADTS). */
function hashTwice(data: Uint8Array): string {
  const isAdts = data[0] === 0xff && ((data[1] ?? 0) & 0xf6) === 0xf0
  const headerBytes = ((data[1] ?? 0) & 1) === 1 ? 7 : 9
  const hashes = [data, isAdts ? data.subarray(headerBytes) : data].map((bytes) =>
    createHash('sha1').update(bytes).digest('hex'),
  )
  return hashes.join(' ')
}

function frameHash({ sha1 }: ReferencePacket): string | undefined {
  return sha1.split(' ')[1]
}

/** The source's first track of a kind that is served, in decode order. */
function sourceTrack(packets: ReferencePacket[], kind: Kind): ReferencePacket[] {
  const ofKind = packets.filter((packet) => packet.kind === kind)
  const first = Math.min(...ofKind.map(({ streamIndex }) => streamIndex))
  return ofKind.filter(({ streamIndex }) => streamIndex === first)
}

describe('HLS of real recordings', () => {
  it.each(names)('%s: the same payload, packet for packet', async (name) => {
    const source = await sourceOf(name)
    const { segments } = await servedOf(name)
    const served = segments.flatMap(({ packets }) => packets)
    for (const kind of ['video', 'audio'] as const) {
      const servedTrack = served.filter((packet) => packet.kind === kind)
      if (kind === 'audio' && servedTrack.length === 0) continue
      expect(servedTrack.map(({ sha1 }) => sha1)).toEqual(
        sourceTrack(source, kind).map(({ sha1 }) => sha1),
      )
    }
  })

  it.each(REMUXED)('%s: bytes between its samples are sent with them', async (name) => {
    const [segment] = (await listed(name)).segments
    if (segment === undefined) throw new Error('there is no segment')
    const { initUrl: _, ...withoutInit } = segment
    const { samples, dataBytes } = readFragment(await fetchSegment(withoutInit))
    const sampleBytes = samples.reduce((sum, sample) => sum + sample.bytes.length, 0)
    expect(dataBytes).toBeGreaterThan(sampleBytes + samples.length)
  })

  it.each(names)(
    '%s: every segment begins with a key frame and has its true length',
    async (name) => {
      const { playlist, segments } = await servedOf(name)
      expect(playlist.isEnded).toBe(true)
      for (const { packets, durationSeconds } of segments) {
        const frames = packets.filter(({ kind }) => kind === 'video')
        expect(frames[0]?.isKey ?? true).toBe(true)
        expect(Math.round(durationSeconds)).toBeLessThanOrEqual(playlist.targetDuration)
      }
      // The first segment may begin with audio; at a discontinuity the clock changes.
      const distances = segments.slice(1, -1).flatMap(({ packets, durationSeconds }, i) => {
        if (playlist.segments[i + 2]?.isDiscontinuity === true) return []
        const next = segments[i + 2]?.packets ?? []
        return [startSeconds(next) - startSeconds(packets) - durationSeconds]
      })
      expect(Math.max(0, ...distances.map(Math.abs))).toBeLessThan(EXTINF_TOLERANCE_SECONDS)
    },
  )

  it.each(names)('%s: every segment decodes alone', async (name) => {
    const { playlist, segments } = await servedOf(name)
    const isIndependent = playlist.text.includes('#EXT-X-INDEPENDENT-SEGMENTS')
    for (const [number, { played }] of segments.entries()) {
      const { frames, decoded, errors, startsWithKey } = played
      if (!startsWithKey && (!isIndependent || frames === 0)) continue
      expect({ number, startsWithKey, decoded, errors }).toEqual({
        number,
        startsWithKey: true,
        decoded: frames,
        errors: 0,
      })
    }
  })

  it.each(names)('%s: the date and time of each discontinuity, in all qualities', async (name) => {
    const { qualities, startTime, startTimeFrom } = await detailsOf(name)
    expect(startTimeFrom).toBe('metadata')
    expect(startTime).toBe(new Date(STARTED_AT_MS).toISOString())
    for (const { id } of qualities) {
      const { segments } = await vi.waitFor(async () => {
        const playlist = await listed(name, id)
        expect(playlist.segments[0]?.startMs).toBe(STARTED_AT_MS)
        return playlist
      }, soon)
      const marked = segments.filter(({ isDiscontinuity }, at) => at === 0 || isDiscontinuity)
      expect(segments.filter(({ startMs }) => startMs !== undefined)).toEqual(marked)
      let elapsedMs = 0
      for (const { durationSeconds, startMs } of segments) {
        const differenceMs = (startMs ?? STARTED_AT_MS + elapsedMs) - STARTED_AT_MS - elapsedMs
        // A time has whole milliseconds.
        expect(Math.abs(differenceMs)).toBeLessThan(1.1)
        elapsedMs += durationSeconds * 1000
      }
    }
  })

  it.each(names)('%s: audio and video stay in sync', async (name) => {
    const source = await sourceOf(name)
    const { playlist, segments } = await servedOf(name)
    if (playlist.segments.some(({ isDiscontinuity }) => isDiscontinuity)) return
    const served = segments.flatMap(({ packets }) => packets)
    const shifts = (['video', 'audio'] as const).flatMap((kind) =>
      trackShifts(
        sourceTrack(source, kind),
        served.filter((packet) => packet.kind === kind),
      ),
    )
    expect(Math.max(...shifts) - Math.min(...shifts)).toBeLessThan(OFFSET_TOLERANCE_SECONDS)
  })
})

describe.each(['saver', 'audio', '360p'] as const)(
  'the quality %s of real recordings',
  (quality) => {
    const isOffered = async (name: string): Promise<boolean> =>
      (await detailsOf(name)).qualities.some(({ id }) => id === quality)

    it.each(names)('%s: the same segments, with all of the audio', async (name) => {
      if (!(await isOffered(name))) return
      const original = await servedOf(name)
      const served = await servedOf(name, quality)
      const listOf = ({ playlist }: ServedRecording) =>
        playlist.segments.map(({ durationSeconds, isDiscontinuity }) => ({
          durationSeconds,
          isDiscontinuity,
        }))
      expect(listOf(served)).toEqual(listOf(original))
      expect(served.playlist.isEnded).toBe(true)
      for (const [at, { packets }] of served.segments.entries()) {
        const ofOriginal = kindOf(original.segments[at]?.packets ?? [], 'audio')
        const audio = kindOf(packets, 'audio')
        expect(audio.map(frameHash)).toEqual(ofOriginal.map(frameHash))
        expect(spread(trackShifts(ofOriginal, audio))).toBeLessThan(ROUNDING_SECONDS)
      }
    })

    it.each(names)('%s: only frames of the original, at their times', async (name) => {
      if (!(await isOffered(name))) return
      const original = await servedOf(name)
      const { segments } = await servedOf(name, quality)
      for (const [at, { packets, played }] of segments.entries()) {
        const all = original.segments[at]?.packets ?? []
        const shift = shiftOf(kindOf(all, 'audio'), kindOf(packets, 'audio'))
        const times = kindOf(all, 'video').map(({ ptsSeconds }) => ptsSeconds + shift)
        const frames = kindOf(packets, 'video')
        expect(frames.length).toBe(quality === 'audio' ? 0 : frames.length)
        for (const [number, { isKey, ptsSeconds }] of frames.entries()) {
          expect(isKey).toBe(quality === 'saver' || number === 0)
          expect(Math.min(...times.map((time) => Math.abs(time - ptsSeconds)))).toBeLessThan(
            ROUNDING_SECONDS,
          )
        }
        expect(played.errors).toBe(0)
        expect(played.decoded).toBe(played.frames)
      }
    })

    it('is offered by recordings of every container', async () => {
      const offering = await Promise.all(
        names.map(async (name) => ((await isOffered(name)) ? [extname(name)] : [])),
      )
      expect([...new Set(offering.flat())].sort()).toEqual([
        '.flv',
        '.mkv',
        '.mov',
        '.mp4',
        '.ts',
        '.webm',
      ])
    })
  },
)

function kindOf(packets: readonly ReferencePacket[], kind: Kind): ReferencePacket[] {
  return packets.filter((packet) => packet.kind === kind)
}

/** MPEG-TS has a clock of its own. */
function shiftOf(original: ReferencePacket[], served: ReferencePacket[]): number {
  return trackShifts(original, served)[0] ?? 0
}

function spread(shifts: readonly number[]): number {
  return shifts.length === 0 ? 0 : Math.max(...shifts) - Math.min(...shifts)
}

function startSeconds(packets: ReferencePacket[]): number {
  const frames = packets.filter(({ kind }) => kind === 'video')
  const timed = (frames.length > 0 ? frames : packets).slice(0, 1)
  return Math.min(...timed.map(({ ptsSeconds }) => ptsSeconds))
}

/** Time shift of each packet. */
function trackShifts(source: ReferencePacket[], served: ReferencePacket[]): number[] {
  return served.flatMap((packet, i) => {
    const shift = packet.ptsSeconds - (source[i]?.ptsSeconds ?? NaN)
    return Number.isNaN(shift) ? [] : [shift]
  })
}

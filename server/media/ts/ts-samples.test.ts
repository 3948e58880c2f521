// MPEG-TS as fMP4, compared with FFmpeg: every frame once, unchanged, at its time.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { beforeAll, describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { createRandom, corrupt } from '../../../test/support/make/corrupt.ts'
import { makeEncodedTs } from '../../../test/support/make/make-encoded-ts.ts'
import type { EncodedTs } from '../../../test/support/make/make-encoded-ts.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { readReferencePackets } from '../../../test/support/verify/reference-packets.ts'
import type { ReferencePacket } from '../../../test/support/verify/reference-packets.ts'
import { listSamples } from '../../../test/support/verify/served-samples.ts'
import { groupedSplitPoints, everySplitPoint } from '../../../test/support/verify/ts-segments.ts'
import { isAppError } from '../../base/errors.ts'
import { formatInitSegment } from '../../stream/hls/fmp4/init-segment.ts'
import { formatMediaSegment } from '../../stream/hls/fmp4/media-segment.ts'
import { splitNals } from '../codec/nal-unit.ts'
import { SPLIT_KEY_FRAME } from '../media-index.ts'
import type { AudioTrack, SplitPointRange, MediaIndex, Track } from '../media-index.ts'
import type { SampleRun } from '../media-reader.ts'
import { createTsReader } from './ts-reader.ts'
import { patienceMs } from '../../../test/support/patience.ts'

const reader = createTsReader()
const FIXTURES = path.join(import.meta.dirname, '../../../test/fixtures/media')
const X264 = { encoder: 'libx264', options: { 'x264-params': 'bframes=3:keyint=25' } } as const
const X265 = {
  encoder: 'libx265',
  options: { 'x265-params': 'bframes=3:keyint=25:log-level=none' },
} as const
const AAC = { encoder: 'aac', channels: 2 } as const
const AC3 = { encoder: 'ac3', channels: 6 } as const

/** A second of audio more or less makes no difference here. */
const RECORDINGS: Record<string, EncodedTs> = {
  'hevc-aac': { seconds: 3, video: X265, audioTracks: [{ ...AAC, sampleRate: 44_100 }] },
  'hevc-mp3': { seconds: 3, video: X265, audioTracks: [{ encoder: 'libmp3lame', channels: 2 }] },
  adts: { seconds: 3, video: X264, audioTracks: [AAC] },
  'h264-mp3': { seconds: 3, video: X264, audioTracks: [{ encoder: 'libmp3lame', channels: 2 }] },
  latm: { seconds: 3, video: X264, audioTracks: [AAC], muxer: { mpegts_flags: 'latm' } },
  opus: { seconds: 3, video: X264, audioTracks: [{ encoder: 'libopus', channels: 2 }] },
  'opus-5.1': { seconds: 3, video: X264, audioTracks: [{ encoder: 'libopus', channels: 6 }] },
  mp2: { seconds: 3, audioTracks: [{ encoder: 'mp2', channels: 2, sampleRate: 44_100 }] },
  'ac3-m2ts': { seconds: 3, video: X264, audioTracks: [AC3], muxer: { mpegts_m2ts_mode: 1 } },
  eac3: { seconds: 3, video: X264, audioTracks: [{ encoder: 'eac3', channels: 2 }] },
  dts: { seconds: 3, video: X264, audioTracks: [{ encoder: 'dca', channels: 2 }] },
  'lpcm-m2ts': {
    seconds: 3,
    video: X264,
    audioTracks: [{ encoder: 'pcm_bluray', channels: 2 }],
    muxer: { mpegts_m2ts_mode: 1 },
  },
  languages: {
    seconds: 3,
    video: X264,
    audioTracks: [
      { ...AC3, language: 'eng' },
      { ...AAC, language: 'eng' },
      { encoder: 'aac', channels: 1, language: 'deu' },
    ],
  },
}
/** Recordings that are sent as MPEG-TS, except in a session with fMP4. */
const plainNames = ['adts', 'h264-mp3', 'ts-h264-aac-clean-hls-concat.ts']
const names = [
  'ts-hevc-aac51.ts',
  'ts-ac3-51-audio-only.ts',
  'ts-h264-aac-clean-hls-concat.ts',
  ...Object.keys(RECORDINGS),
]

const folder = makeTempFolder('ts-samples')
beforeAll(async () => {
  for (const [name, recording] of Object.entries(RECORDINGS)) {
    await makeEncodedTs(pathOf(name), recording)
  }
})

function pathOf(name: string): string {
  return name in RECORDINGS ? path.join(folder, `${name}.ts`) : path.join(FIXTURES, name)
}

interface Indexed {
  bytes: Uint8Array
  index: MediaIndex
}

async function indexOf(bytes: Uint8Array, previous?: MediaIndex): Promise<MediaIndex> {
  return reader.index(bytesFile(bytes), AbortSignal.timeout(patienceMs), previous)
}

/** The recording as fMP4. */
async function indexed(name: string): Promise<Indexed> {
  const bytes = await readFile(pathOf(name))
  const index = await indexOf(bytes)
  const sampled = reader.asSamples?.(index)
  expect(sampled !== undefined).toBe(plainNames.includes(name))
  return { bytes, index: sampled ?? index }
}

/** One sample of a segment. */
interface ServedSample {
  data: Uint8Array
  ptsTicks: number
  dtsTicks: number
  isKey: boolean
}

async function readRuns({ bytes, index }: Indexed, range: SplitPointRange, track: number) {
  const file = bytesFile(bytes)
  const content = await reader.readSegment(file, index, { ...range, tracks: [track] })
  if (content.kind !== 'samples') throw new Error('the segment is no fMP4')
  return content.runs
}

async function readTrack(
  one: Indexed,
  ranges: SplitPointRange[],
  track: number,
): Promise<ServedSample[]> {
  const runs = await Promise.all(ranges.map((range) => readRuns(one, range, track)))
  return runs.flat().flatMap(samplesOf)
}

/** Samples of a run; times in ticks of 90 kHz. */
function samplesOf(run: SampleRun): ServedSample[] {
  const scale = 90_000 / run.timescale
  return listSamples(run).map(({ bytes, decodeTicks, presentationTicks, isKey }) => ({
    data: bytes,
    dtsTicks: decodeTicks * scale,
    ptsTicks: presentationTicks * scale,
    isKey,
  }))
}

function hash(...chunks: Uint8Array[]): string {
  const sum = createHash('sha1')
  for (const chunk of chunks) sum.update(chunk)
  return sum.digest('hex')
}

/**
 * The comparable part of a packet of MPEG-TS: NAL units except delimiters and parameter sets, AAC
 * and Opus without headers.
 */
function payloadHash(data: Uint8Array, { kind, codecName }: Track): string {
  if (kind === 'video') {
    const nals = splitNals(data, 100)
    return hash(...nals.filter((nal) => !isLeftOut(nal, codecName === 'HEVC')))
  }
  const headerBytes = { AAC: 7, LPCM: 4 }[codecName] ?? 0
  return hash(data.subarray(headerBytes))
}

function isLeftOut(nal: Uint8Array, isHevc: boolean): boolean {
  const first = nal[0] ?? 0
  return isHevc ? first >> 1 >= 32 && first >> 1 <= 38 : [7, 8, 9, 12].includes(first & 31)
}

/** The NAL units of a sample, by their lengths. */
function splitLengths(data: Uint8Array): Uint8Array[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const nals: Uint8Array[] = []
  for (let at = 0; at < data.length; at += 4 + view.getUint32(at)) {
    nals.push(data.subarray(at + 4, at + 4 + view.getUint32(at)))
  }
  return nals
}

/** FFmpeg's packets of a stream of the source, hashed by their comparable parts. */
async function sourcePackets(
  name: string,
  track: Track,
  stream: number,
): Promise<ReferencePacket[]> {
  // FFmpeg does not unpack AAC in LATM: the same frames in ADTS replace them.
  const source = name === 'latm' ? 'adts' : name
  const packets = await readReferencePackets(pathOf(source), {}, (data) => payloadHash(data, track))
  return packets.filter(({ streamIndex }) => streamIndex === stream)
}

/** Stream of the source for a track of the index. */
const STREAMS: Record<string, number[]> = {
  'ts-ac3-51-audio-only.ts': [0],
  mp2: [0],
  languages: [0, 2, 1, 3],
}

describe('samples', () => {
  it.each(names)('%s: are those of the source, each once, at its time', async (name) => {
    const one = await indexed(name)
    const { index } = one
    expect(deserialize(serialize(index))).toEqual(index)
    const shifts: number[] = []
    for (const [number, track] of index.tracks.entries()) {
      const stream = (STREAMS[name] ?? [0, 1])[number] ?? NaN
      const source = await sourcePackets(name, track, stream)
      for (const ranges of [everySplitPoint(index), groupedSplitPoints(index, 2)]) {
        const served = await readTrack(one, ranges, number)
        const hashes = served.map(({ data }) =>
          track.kind === 'video' ? hash(...splitLengths(data)) : hash(data),
        )
        expect(hashes).toEqual(source.map(({ sha1 }) => sha1))
        shifts.push(
          ...served.map(({ ptsTicks }, i) => ptsTicks - (source[i]?.ptsSeconds ?? NaN) * 90_000),
        )
        for (const [i, { dtsTicks, ptsTicks }] of served.entries()) {
          expect(dtsTicks).toBeGreaterThan(served[i - 1]?.dtsTicks ?? -1)
          expect(ptsTicks).toBeGreaterThanOrEqual(dtsTicks)
        }
        const keys = source.map(({ isKey }) => isKey || track.kind === 'audio')
        expect(served.map(({ isKey }) => isKey)).toEqual(keys)
      }
    }
    // All are shifted by one time, within two ticks of the recording's clock.
    expect(Math.max(...shifts) - Math.min(...shifts)).toBeLessThan(4)
  })

  it.each(['ts-hevc-aac51.ts', 'hevc-aac', 'adts', 'latm', 'opus', 'opus-5.1'])(
    '%s: are read back by FFmpeg from init and segments',
    async (name) => {
      const one = await indexed(name)
      const file = bytesFile(one.bytes)
      const tracks = reader.initTracks(one.index, 0) ?? []
      expect(tracks.map(({ kind }) => kind)).toEqual(['video', 'audio'])
      const chunks: Uint8Array[] = [formatInitSegment(tracks)]
      const sizes = { video: 0, audio: 0 }
      for (const [i, range] of everySplitPoint(one.index).entries()) {
        const content = await reader.readSegment(file, one.index, range)
        if (content.kind !== 'samples') throw new Error('the segment is no fMP4')
        for (const run of content.runs) sizes[run.kind] += run.sizes.length
        for (const part of formatMediaSegment(content.runs, i + 1)) {
          if (part.kind === 'bytes') chunks.push(part.bytes)
        }
      }
      const whole = path.join(folder, 'whole.mp4')
      await writeFile(whole, Buffer.concat(chunks))
      const packets = await readReferencePackets(whole)
      expect(packets.filter(({ kind }) => kind === 'video').length).toBe(sizes.video)
      expect(packets.filter(({ kind }) => kind === 'audio').length).toBe(sizes.audio)
      expect(sizes.video * sizes.audio).toBeGreaterThan(0)
    },
  )

  it.each(names.filter((name) => !/ac3-51|mp2/.test(name)))(
    '%s: every split point with a key flag begins with a key frame',
    async (name) => {
      const one = await indexed(name)
      for (const range of everySplitPoint(one.index)) {
        const [first] = await readTrack(one, [range], 0)
        const isKey = ((one.index.splitPoints.flags[range.from] ?? 0) & SPLIT_KEY_FRAME) !== 0
        expect(first?.isKey).toBe(isKey)
        const frame = await reader.readKeyFrame(bytesFile(one.bytes), one.index, range.from)
        expect(frame?.codec).toBe(name.includes('hevc') ? 'hevc' : 'h264')
      }
    },
  )
})

describe('audioTracks', () => {
  it.each([
    ['ts-ac3-51-audio-only.ts', 'AC-3', { codec: 'ac3', channels: 6, sampleRate: 48_000 }],
    ['mp2', 'MP2', { codec: 'mp2', channels: 2, sampleRate: 44_100 }],
    ['hevc-mp3', 'MP3', { codec: 'mp3', channels: 2, sampleRate: 48_000 }],
    ['h264-mp3', 'MP3', { codec: 'mp3', channels: 2, sampleRate: 48_000 }],
    ['eac3', 'E-AC-3', { codec: 'eac3', channels: 2, sampleRate: 48_000 }],
    ['lpcm-m2ts', 'LPCM', { codec: 'pcm_s16be', channels: 2, sampleRate: 48_000 }],
    ['dts', 'DTS', { codec: 'dts', channels: 2, sampleRate: 48_000 }],
  ])('%s: is transcoded from %s', async (name, codecName, transcodedFrom) => {
    const { index } = await indexed(name)
    const audio = index.tracks.at(-1)
    const { sampleRate } = transcodedFrom
    const sent = { kind: 'audio', codec: 'mp4a.40.2', codecName, channels: 2, sampleRate }
    expect(audio).toEqual({ ...sent, transcodedFrom })
    expect(reader.initTracks(index, 0)?.map(({ kind }) => kind)).toEqual(
      index.tracks.slice(0, -1).map(({ kind }) => kind),
    )
  })

  it('in several languages are all served, a playable one first', async () => {
    const { index } = await indexed('languages')
    const audioTracks = index.tracks.filter((track): track is AudioTrack => track.kind === 'audio')
    expect(audioTracks.map(({ codecName, language }) => `${codecName} ${language}`)).toEqual([
      'AAC eng',
      'AC-3 eng',
      'AAC deu',
    ])
    expect(reader.initTracks(index, 0, [3])?.length).toBe(1)
    expect(reader.initTracks(index, 0, [2])).toEqual([])
  })
})

describe('a growing recording', () => {
  it.each(['hevc-aac', 'languages', 'ts-ac3-51-audio-only.ts', 'opus'])(
    '%s: keeps its stable segments, and ends as it would have at once',
    async (name) => {
      const { bytes, index } = await indexed(name)
      let previous: MediaIndex | undefined
      let stable = 0
      for (let size = 9000; size < bytes.length; size += 9431) {
        const part = bytes.subarray(0, size)
        const next = await indexOf(part, previous)
        expect(next).toEqual(await indexOf(part))
        previous = next
        const count = next.growth?.stableSplitPoints ?? 0
        if (count <= stable) continue
        stable = count
        for (const track of next.tracks.keys()) {
          for (let from = 0; from + 1 < count; from += 1) {
            const range = { from, to: from + 1 }
            expect(await readRuns({ bytes: part, index: next }, range, track)).toEqual(
              await readRuns({ bytes, index }, range, track),
            )
          }
        }
      }
      expect(stable).toBeGreaterThanOrEqual(1)
      expect(await indexOf(bytes, previous)).toEqual(index)
    },
  )
})

describe('recordings that can be sent as MPEG-TS', () => {
  it('stay so unless fMP4 is requested, or their audio changes its codec', async () => {
    const index = await indexOf(await readFile(pathOf('adts')))
    expect(reader.initTracks(index, 0)).toBeUndefined()
    const elsewhere = path.join(folder, 'elsewhere.ts')
    const muxer = { mpegts_start_pid: 0x200 }
    await makeEncodedTs(elsewhere, { seconds: 3, video: X264, audioTracks: [AAC], muxer })
    const joined = Buffer.concat([await readFile(pathOf('h264-mp3')), await readFile(elsewhere)])
    const both = await indexOf(joined)
    expect(both.tracks.length).toBe(2)
    expect(reader.asSamples?.(both)).toBeUndefined()
  })
})

describe('corrupt recordings', () => {
  it('are read or rejected, and no sample is larger than the recording', async () => {
    const random = createRandom(20_261)
    const originals = await Promise.all(
      ['languages', 'latm', 'hevc-mp3', 'opus-5.1', 'dts', 'eac3'].map(async (name) => {
        return (await readFile(pathOf(name))).subarray(0, 120_000)
      }),
    )
    let count = 0
    for (let i = 0; i < 600; i += 1) {
      const bytes = corrupt(originals[i % originals.length] ?? new Uint8Array(0), random)
      const runs = await readAll(bytes)
      for (const { sizes, bytes: samples, durations } of runs) {
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(samples?.length)
        expect(samples?.length).toBeLessThan(2 * bytes.length)
        expect(durations.every((duration) => duration > 0 && duration < 2 ** 31)).toBe(true)
      }
      count += runs.length
    }
    expect(count).toBeGreaterThan(1000)
  })
})

/** Runs of all tracks and split points; none if the recording is rejected. */
async function readAll(bytes: Uint8Array): Promise<SampleRun[]> {
  try {
    const index = await indexOf(bytes)
    const runs: SampleRun[] = []
    for (const range of everySplitPoint(index)) {
      const tracks = [...index.tracks.keys()]
      const content = await reader.readSegment(bytesFile(bytes), index, { ...range, tracks })
      if (content.kind === 'samples') runs.push(...content.runs)
    }
    return runs
  } catch (error) {
    if (isAppError(error, 'unplayable', 'failed')) return []
    throw error
  }
}

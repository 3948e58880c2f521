// The reader on all layouts that the format permits and recorders write, made element by element.
import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import {
  AAC_TRACK,
  AVC_CONFIG,
  H264_TRACK,
  ID,
  SRT_TRACK,
  block,
  cluster,
  clusters,
  contentEncodings,
  ebmlHead,
  element,
  filmBlocks,
  info,
  mkvFile,
  openElement,
  tracks,
  uint,
  type BlockPlan,
  type TrackPlan,
} from '../../../test/support/make/make-mkv.ts'
import {
  rangesOf,
  readRuns,
  readServedSamples,
} from '../../../test/support/verify/served-samples.ts'
import {
  SPLIT_DISCONTINUITY,
  SPLIT_KEY_FRAME,
  durationSeconds,
  type MediaIndex,
} from '../media-index.ts'
import type { SampleRun } from '../media-reader.ts'
import { createMatroskaReader } from './matroska-reader.ts'

const reader = createMatroskaReader()
const { signal } = new AbortController()
const FILM = filmBlocks({ seconds: 10, reordered: 1 })
const TRACKS = [H264_TRACK, AAC_TRACK]

async function indexOf(bytes: Uint8Array): Promise<MediaIndex> {
  return reader.index(bytesFile(bytes), signal)
}

/** Frames of all segments, in file order; times in milliseconds. */
async function servedOf(bytes: Uint8Array): Promise<Record<'video' | 'audio', number[]>> {
  const file = bytesFile(bytes)
  const index = await reader.index(file, signal)
  const segments = await readRuns(reader, { file, index }, rangesOf(index, 1))
  const ends = { video: 0, audio: 0 }
  for (const run of segments.flatMap(({ runs }) => runs)) {
    expect(run.firstDecodeTicks / run.timescale).toBeGreaterThanOrEqual(ends[run.kind])
    ends[run.kind] = endSeconds(run)
    expect(Math.min(0, ...(run.compositionOffsets ?? []))).toBe(0)
  }
  const times = async (kind: SampleRun['kind']): Promise<number[]> =>
    (await readServedSamples(file, segments, kind)).map(({ ptsSeconds }) =>
      Math.round(ptsSeconds * 1000),
    )
  return { video: await times('video'), audio: await times('audio') }
}

function endSeconds({ firstDecodeTicks, durations, timescale }: SampleRun): number {
  const end = durations.reduce((sum, ticks) => sum + ticks, firstDecodeTicks)
  // Half a tick of tolerance for the division.
  return (end - 0.5) / timescale
}

const plain = await servedOf(mkvFile(TRACKS, clusters(FILM)))
const header = [ebmlHead(), openElement(ID.segment), info()]
const filler = element(ID.void, Buffer.alloc(50))
const crc = element(ID.crc32, Buffer.alloc(4, 0xa3))

describe('layouts with the same film', () => {
  const [firstCluster = Buffer.alloc(0), ...others] = clusters(FILM)
  const layouts: [string, Uint8Array[]][] = [
    [
      'clusters of unknown size',
      [...header, tracks(...TRACKS), ...clusters(FILM, { size: 'open' })],
    ],
    [
      'a Segment of known size',
      [ebmlHead(), element(ID.segment, info(), tracks(...TRACKS), ...clusters(FILM))],
    ],
    ['tracks after the clusters', [...header, ...clusters(FILM), tracks(...TRACKS)]],
    [
      'tracks repeated before each cluster',
      [...header, ...clusters(FILM).flatMap((each) => [tracks(...TRACKS), each])],
    ],
    [
      'void, checksums, cues, tags and seek heads everywhere',
      [
        filler,
        ...header,
        element(ID.seekHead, crc, Buffer.alloc(40)),
        filler,
        tracks(...TRACKS),
        filler,
        firstCluster,
        element(ID.cues, Buffer.alloc(3000, 0x1f)),
        ...others.flatMap((each) => [each, element(ID.tags, Buffer.alloc(99, 0xa3)), filler]),
      ].slice(1),
    ],
    [
      'void, checksums and sizes of the cluster before inside of clusters',
      [
        ...header,
        tracks(...TRACKS),
        ...inClusters(
          FILM,
          (plan, time) => [filler, block(plan, time), uint(ID.prevSize, 99)],
          crc,
        ),
      ],
    ],
    [
      'elements of a later edition',
      [
        ...header,
        element(0x1e112233, Buffer.alloc(30, 0xa3)),
        tracks(...TRACKS),
        ...inClusters(FILM, (plan, time) => [element(0x4fee, Buffer.alloc(9)), block(plan, time)]),
      ],
    ],
    [
      'block groups',
      [
        ...header,
        tracks(...TRACKS),
        ...clusters(FILM.map((each): BlockPlan => ({ ...each, form: 'group' }))),
      ],
    ],
  ]

  it.each(layouts)('%s', async (_, chunks) => {
    expect(await servedOf(Buffer.concat(chunks))).toEqual(plain)
  })

  it('a clock of 100 ns', async () => {
    const fine = FILM.map((each) => ({ ...each, time: each.time * 10_000 }))
    const each = fine.map((plan) => cluster([plan]))
    const parts = [ebmlHead(), openElement(ID.segment), info(100), tracks(...TRACKS), ...each]
    const served = await servedOf(Buffer.concat(parts))
    expect(served.video).toEqual(plain.video)
    expect(served.audio).toHaveLength(plain.audio.length)
    for (const [i, ms] of served.audio.entries()) {
      expect(Math.abs(ms - (plain.audio[i] ?? NaN))).toBeLessThanOrEqual(1)
    }
  })
})

/** One cluster per second, its content made block by block. */
function inClusters(
  blocks: BlockPlan[],
  write: (plan: BlockPlan, time: number) => Uint8Array[],
  front: Uint8Array = Buffer.alloc(0),
): Buffer[] {
  const groups = Map.groupBy(blocks, ({ time }) => Math.floor(time / 1000))
  return [...groups.values()].map((group) => {
    const time = Math.min(...group.map((plan) => plan.time))
    const content = group.flatMap((plan) => write(plan, time))
    return element(ID.cluster, front, uint(ID.timestamp, time), ...content)
  })
}

describe('breaks', () => {
  it('continues into an appended file with other tracks, without a gap', async () => {
    const other = { ...H264_TRACK, number: 7, codecPrivate: AVC_CONFIG.with(3, 0x1f) }
    const moved = FILM.map((each) => ({ ...each, track: each.track === 1 ? 7 : 2 }))
    const second = mkvFile([AAC_TRACK, other], [cluster(moved)])
    const bytes = Buffer.concat([mkvFile(TRACKS, clusters(FILM)), second])
    const index = await indexOf(bytes)
    const flags = [...index.splitPoints.flags]
    const at = flags.findIndex((each) => (each & SPLIT_DISCONTINUITY) !== 0)
    expect(flags[at]).toBe(SPLIT_DISCONTINUITY | SPLIT_KEY_FRAME)
    expect((index.splitPoints.startTicks[at] ?? 0) / index.splitPoints.timescale).toBeCloseTo(10, 1)
    expect(index.splitPoints.endTicks / index.splitPoints.timescale).toBeCloseTo(20, 1)
    const [before, next] = [reader.initTracks(index, 0), reader.initTracks(index, at)]
    expect(before?.[0]?.sampleEntry).not.toEqual(next?.[0]?.sampleEntry)
    expect(before?.[1]).toEqual(next?.[1])
    const served = await servedOf(bytes)
    expect(served.video).toHaveLength(2 * plain.video.length)
    expect(served.audio).toHaveLength(2 * plain.audio.length)
  })

  it('decodes frames before those of an appended film that begins before their end', async () => {
    const frames = FILM.filter(({ track }) => track === 1)
    const later = frames.map((each) => ({ ...each, time: each.time + 9920 }))
    const { video } = await servedOf(mkvFile([H264_TRACK], clusters([...frames, ...later])))
    expect(video).toEqual([...plain.video, ...plain.video.map((ms) => ms + 9920)])
  })

  it('closes the gap at a timestamp jump, and reports it', async () => {
    const jumped = FILM.map((each, i) => (i < 300 ? each : { ...each, time: each.time + 50_000 }))
    const bytes = mkvFile(TRACKS, clusters(jumped))
    const { splitPoints, limitations } = await indexOf(bytes)
    expect(
      [...splitPoints.flags].filter((flags) => (flags & SPLIT_DISCONTINUITY) !== 0),
    ).toHaveLength(1)
    expect(splitPoints.endTicks / splitPoints.timescale).toBeCloseTo(10, 0)
    expect(limitations).toMatchObject([{ code: 'gap', jumpSeconds: 50 }])
    const { video, audio } = await servedOf(bytes)
    expect(video).toHaveLength(plain.video.length)
    expect(audio).toHaveLength(plain.audio.length)
  })

  it('leaves a pause of the video as it is while the audio continues', async () => {
    const paused = filmBlocks({ seconds: 30 }).filter(
      ({ track, time }) => track === 2 || time < 2000 || time > 14_000,
    )
    const { splitPoints } = await indexOf(mkvFile(TRACKS, clusters(paused)))
    expect([...splitPoints.flags].some((flags) => (flags & SPLIT_DISCONTINUITY) !== 0)).toBe(false)
    expect(splitPoints.endTicks / splitPoints.timescale).toBeCloseTo(30, 0)
  })

  it('does not treat frames reordered across a pause as a jump back', async () => {
    const film = filmBlocks({ seconds: 20, reordered: 1 })
    // Presented at 9.04 and 9.08 s; the latter, decoded first, now ends a pause of 3 s.
    const paused = film
      .filter(({ track, time }) => track === 2 || time <= 9080 || time > 12_080)
      .map((each) => (each.track === 1 && each.time === 9080 ? { ...each, time: 12_080 } : each))
    const bytes = mkvFile(TRACKS, clusters(paused))
    const { splitPoints, limitations } = await indexOf(bytes)
    expect([...splitPoints.flags].some((flags) => (flags & SPLIT_DISCONTINUITY) !== 0)).toBe(false)
    expect(splitPoints.endTicks / splitPoints.timescale).toBeCloseTo(20, 0)
    expect(limitations).toBeUndefined()
    const presented = paused.flatMap(({ track, time }) => (track === 1 ? [time] : []))
    expect((await servedOf(bytes)).video).toEqual(presented)
  })

  it.each([
    ['alone', { track: 1, time: 42_000 }, {}],
    ['with a declared duration', { track: 1, time: 42_000 }, { form: 'group', duration: 32_000 }],
  ] as const)('leaves a still frame as it is: %s', async (how, plan, more) => {
    const film = filmBlocks({ seconds: 10, audio: how === 'alone' ? 'without' : 'with' })
    const last = film.findLastIndex(({ track }) => track === 1)
    const still = film.map((each, i) => (i === last ? { ...each, ...more } : each))
    const next: BlockPlan = { ...plan, frames: [Buffer.alloc(50, 0x41)], isKey: true }
    const plans = how === 'alone' ? [H264_TRACK] : TRACKS
    const { splitPoints } = await indexOf(mkvFile(plans, clusters([...still, next])))
    expect([...splitPoints.flags].some((flags) => (flags & SPLIT_DISCONTINUITY) !== 0)).toBe(false)
    expect(splitPoints.endTicks / splitPoints.timescale).toBeGreaterThan(42)
  })

  it('starts at the first key frame if frames before it are skipped', async () => {
    const index = await indexOf(mkvFile(TRACKS, clusters(FILM.slice(20))))
    expect(index.splitPoints.flags[0]).toBe(SPLIT_KEY_FRAME)
    expect(index.splitPoints.endTicks / index.splitPoints.timescale).toBeCloseTo(8, 0)
  })

  it('retains the audio before the first frame if no frame is skipped', async () => {
    const late = FILM.filter(({ track, time }) => track === 2 || time >= 4000)
    const index = await indexOf(mkvFile(TRACKS, clusters(late)))
    expect(index.splitPoints.endTicks / index.splitPoints.timescale).toBeCloseTo(10, 0)
  })

  it('loses at most a cluster to corrupt bytes, and reports their position', async () => {
    const made = clusters(FILM)
    const at = mkvFile(TRACKS, made.slice(0, 2)).length
    const bytes = mkvFile(TRACKS, made)
    bytes.fill(0x03, at + 500, at + 1500)
    const { limitations } = await indexOf(bytes)
    expect(limitations).toMatchObject([{ code: 'corrupt', seconds: expect.closeTo(4, 0) }])
    const { video } = await servedOf(bytes)
    expect(video.length).toBeGreaterThan(plain.video.length - 50)
    expect(video.at(-1)).toBe(plain.video.at(-1))
  })

  it('reports bytes at the end that are not Matroska', async () => {
    const whole = mkvFile(TRACKS, clusters(FILM))
    const index = await indexOf(Buffer.concat([whole, Buffer.alloc(3000, 0x03)]))
    expect(index.limitations).toEqual([
      {
        code: 'corrupt',
        lengthBytes: 3000,
        offsetBytes: whole.length,
        seconds: durationSeconds(index),
      },
    ])
  })

  it('continues at the next cluster if a block exceeds its cluster of known size', async () => {
    const made = clusters(FILM)
    const at = mkvFile(TRACKS, made.slice(0, 1)).length
    const bytes = mkvFile(TRACKS, made)
    const blockAt = bytes.indexOf(0xa3, at + 300)
    bytes.set([0xa3, 0x10, 0xff, 0xff, 0xff], blockAt)
    const { video } = await servedOf(bytes)
    expect(video.at(-1)).toBe(plain.video.at(-1))
  })
})

describe('tracks', () => {
  const audioTracks = (...plans: Partial<TrackPlan>[]): TrackPlan[] =>
    plans.map((plan, i) => ({ ...AAC_TRACK, number: i + 2, ...plan }))

  async function tracksOf(plans: TrackPlan[]): Promise<MediaIndex['tracks']> {
    const blocks = FILM.flatMap((each) =>
      each.track === 1 ? [each] : plans.slice(1).map(({ number }) => ({ ...each, track: number })),
    )
    return (await indexOf(mkvFile(plans, clusters(blocks)))).tracks
  }

  it('lists all audio tracks, the default one first, with languages and names', async () => {
    const listed = await tracksOf([
      H264_TRACK,
      ...audioTracks(
        { language: 'ger', isDefault: false },
        { language: 'fre', name: 'Commentaire' },
        { language: 'und' },
        { language: 'eng', isEnabled: false },
      ),
    ])
    expect(listed.slice(1)).toMatchObject([
      { language: 'fre', name: 'Commentaire' },
      { language: 'ger' },
      { kind: 'audio' },
    ])
    expect(listed[3]).not.toHaveProperty('language')
    expect(listed).toHaveLength(4)
  })

  it('prefers the audio track that needs no transcoding among those of one language', async () => {
    const ac3: Partial<TrackPlan> = { codec: 'A_AC3', language: 'eng' }
    const listed = await tracksOf([H264_TRACK, ...audioTracks(ac3, { language: 'eng' })])
    expect(listed.slice(1)).toMatchObject([
      { codecName: 'AAC' },
      { codecName: 'AC-3', transcodedFrom: { codec: 'ac3' } },
    ])
    const others = await tracksOf([H264_TRACK, ...audioTracks(ac3, { language: 'ger' })])
    expect(others[1]).toMatchObject({ codecName: 'AC-3' })
  })

  it.each([
    ['A_MPEG/L3', {}, 'mp3'],
    ['A_MPEG/L2', {}, 'mp2'],
    ['A_VORBIS', {}, 'vorbis'],
    ['A_AC3', {}, 'ac3'],
    ['A_AC3/BSID9', {}, 'ac3'],
    ['A_EAC3', {}, 'eac3'],
    ['A_DTS', {}, 'dts'],
    ['A_TRUEHD', {}, 'truehd'],
    ['A_PCM/INT/LIT', { bits: 16 }, 'pcm_s16le'],
    ['A_PCM/INT/BIG', { bits: 24 }, 'pcm_s24be'],
    ['A_PCM/FLOAT/IEEE', { bits: 32 }, 'pcm_f32le'],
    [
      'A_MS/ACM',
      { codecPrivate: Buffer.from('07000100401f0000401f000001000800', 'hex') },
      'pcm_mulaw',
    ],
  ] as const)('returns %s as recorded, to be transcoded', async (codec, more, recorded) => {
    const plan = { ...AAC_TRACK, codec, ...more }
    const bytes = mkvFile([H264_TRACK, plan], clusters(FILM))
    const index = await indexOf(bytes)
    expect(index.tracks[1]).toMatchObject({
      codec: 'mp4a.40.2',
      transcodedFrom: { codec: recorded, channels: 2, sampleRate: 48_000 },
    })
    expect(reader.initTracks(index, 0)).toHaveLength(1)
    expect((await servedOf(bytes)).audio).toHaveLength(plain.audio.length)
  })

  it.each([
    ['A_AAC/MPEG4/LC', 48_000, 'mp4a.40.2'],
    ['A_AAC/MPEG2/LC', 44_100, 'mp4a.40.2'],
    ['A_AAC/MPEG4/LC/SBR', 24_000, 'mp4a.40.5'],
  ])('reads %s without a codec configuration', async (codec, sampleRate, expected) => {
    const { codecPrivate: _, ...rest } = AAC_TRACK
    const [, audioTrack] = await tracksOf([H264_TRACK, { ...rest, codec, sampleRate }])
    expect(audioTrack).toMatchObject({
      codec: expected,
      sampleRate: codec.endsWith('SBR') ? 48_000 : sampleRate,
    })
  })

  it('omits audio of an unknown codec, and reports that', async () => {
    const odd = { ...AAC_TRACK, codec: 'A_QUICKTIME/QDM2' }
    const { tracks: listed, limitations } = await indexOf(
      mkvFile([H264_TRACK, odd], clusters(FILM)),
    )
    expect(listed).toHaveLength(1)
    expect(limitations).toMatchObject([
      {
        code: 'audio-not-served',
        cause: { code: 'audio-codec-unsupported', codec: 'A_QUICKTIME/QDM2' },
      },
    ])
  })

  it('reports further video tracks', async () => {
    const disabled = { ...H264_TRACK, number: 6, isEnabled: false }
    const further = [4, 5].map((number) => ({ ...H264_TRACK, number }))
    const all = [H264_TRACK, disabled, ...further, AAC_TRACK]
    const { tracks: served, limitations } = await indexOf(mkvFile(all, clusters(FILM)))
    expect(served.map(({ kind }) => kind)).toEqual(['video', 'audio'])
    const cause = { code: 'track-limit', tracks: 2 }
    expect(limitations).toEqual([{ code: 'video-not-served', cause }])
  })

  it('restores what header stripping removed', async () => {
    const prefix = Buffer.from([0, 0])
    const encodings = contentEncodings(3, prefix)
    const stripped = FILM.map((each) => ({
      ...each,
      frames: each.frames.map((frame) => (each.track === 1 ? frame.subarray(2) : frame)),
    }))
    const bytes = mkvFile([{ ...H264_TRACK, encodings }, AAC_TRACK], clusters(stripped))
    const file = bytesFile(bytes)
    const index = await reader.index(file, signal)
    const range = { from: 0, to: index.splitPoints.startTicks.length }
    const content = await reader.readSegment(file, index, range)
    const run = content.kind === 'samples' ? content.runs[0] : undefined
    const whole = FILM.filter(({ track }) => track === 1).flatMap(({ frames }) => frames)
    expect(Buffer.from(run?.bytes ?? []).equals(Buffer.concat(whole))).toBe(true)
    const key = await reader.readKeyFrame(file, index, 0)
    expect(Buffer.from(key?.data ?? []).equals(whole[0] ?? Buffer.alloc(0))).toBe(true)
  })

  describe('audio whose frames have their duration', () => {
    const STREAM_INFO = '664c614380000022100010000000000000000ac442f0'
    const FLAC = { codec: 'A_FLAC', sampleRate: 44_100 }
    const codecPrivate = Buffer.from(STREAM_INFO.padEnd(2 * 42, '0'), 'hex')
    const TRANSCODED = { codecPrivate: Buffer.alloc(0), sampleRate: 48_000 }
    const noDuration = Buffer.alloc(20)
    const forms: [
      string,
      Partial<TrackPlan>,
      { usual: string; last: string; samples: number[] },
    ][] = [
      // 4096 samples, then 1000.
      [
        'FLAC',
        { ...FLAC, codecPrivate },
        { usual: 'fff8c91800', last: 'fff879180003e7', samples: [4096, 1000] },
      ],
      // Six blocks of 256 samples, then one.
      [
        'E-AC-3',
        { ...TRANSCODED, codec: 'A_EAC3' },
        { usual: '0b77000934800000', last: '0b77000904800000', samples: [1536, 256] },
      ],
      // 16 blocks of 32 samples, then eight.
      [
        'DTS',
        { ...TRANSCODED, codec: 'A_DTS' },
        {
          usual: '7ffe8001fc3c3ed0b5e000',
          last: '7ffe8001fc1c3ed0b5e000',
          samples: [512, 256],
        },
      ],
    ]
    it.each(forms)('%s ends with its last frame', async (_, track, { usual, last, samples }) => {
      const [each = 0, rest = 0] = samples
      const rate = track.sampleRate ?? 1
      const audio = Array.from({ length: 50 }, (__, i): BlockPlan => {
        const frame = Buffer.concat([Buffer.from(i < 49 ? usual : last, 'hex'), noDuration])
        return { track: 2, time: Math.round((i * each * 1000) / rate), frames: [frame] }
      })
      for (const hidden of [0, 2]) {
        const first = Buffer.from(usual, 'hex').subarray(0, hidden)
        const encodings = contentEncodings(3, first)
        const plan = { ...AAC_TRACK, ...track, ...(hidden > 0 && { encodings }) }
        const blocks = audio.map((block_) => ({
          ...block_,
          frames: block_.frames.map((frame) => frame.subarray(hidden)),
        }))
        const file = bytesFile(mkvFile([plan], clusters(blocks)))
        const index = await reader.index(file, signal)
        const total = 49 * each + rest
        expect(durationSeconds(index)).toBeCloseTo(total / rate, 4)
        const segments = await readRuns(reader, { file, index }, rangesOf(index, 1))
        const durations = segments.flatMap(({ runs: [run] }) => [...(run?.durations ?? [])])
        expect(durations).toEqual([...Array.from({ length: 49 }, () => each), rest])
      }
    })
  })

  it('counts a declared duration in samples of the recording', async () => {
    const rate = 96_000
    const defaultDurationNs = 833_333
    const truehd = { ...AAC_TRACK, codec: 'A_TRUEHD', sampleRate: rate, defaultDurationNs }
    const frames = Array.from({ length: 24 }, () => Buffer.alloc(30, 1))
    const blocks = Array.from({ length: 50 }, (_, i): BlockPlan => {
      return { track: 2, time: 20 * i, frames, lacing: 'xiph' }
    })
    const file = bytesFile(mkvFile([truehd], clusters(blocks)))
    const index = await reader.index(file, signal)
    expect(durationSeconds(index)).toBeCloseTo(1, 4)
    const segments = await readRuns(reader, { file, index }, rangesOf(index, 1))
    const durations = segments.flatMap(({ runs: [run] }) => [...(run?.durations ?? [])])
    expect(new Set(durations)).toEqual(new Set([80]))
  })

  it('shifts audio by its codec delay', async () => {
    const opusHeader = Buffer.concat([
      Buffer.from('OpusHead'),
      Buffer.from([1, 2, 0x38, 1, 0x80, 0xbb, 0, 0, 0, 0, 0]),
    ])
    const opus: TrackPlan = {
      ...AAC_TRACK,
      codec: 'A_OPUS',
      codecPrivate: opusHeader,
      codecDelayNs: 6_500_000,
    }
    const { video, audio } = await servedOf(mkvFile([H264_TRACK, opus], clusters(FILM)))
    // The audio starts first now, so that the video is later on the session timeline.
    expect([video[0], audio[0]]).toEqual([7, 0])
  })

  it.each([
    [{ codec: 'V_VP8' }, { code: 'video-codec-unsupported', codec: 'VP8' }],
    [{ codec: 'V_MPEG4/ISO/ASP' }, { code: 'video-codec-unsupported', codec: 'MPEG-4 Visual' }],
    [{ codec: 'V_THEORA' }, { code: 'video-codec-unsupported', codec: 'Theora' }],
    [{ codec: 'V_REAL/RV40' }, { code: 'video-codec-unsupported', codec: 'RealVideo' }],
    [
      { codec: 'V_MS/VFW/FOURCC', codecPrivate: Buffer.from(`${' '.repeat(16)}XVID`) },
      { code: 'video-codec-unsupported', codec: 'MPEG-4 Visual' },
    ],
    [
      { codecPrivate: Buffer.alloc(0) },
      { code: 'video-config-missing', codec: 'H.264', box: 'CodecPrivate' },
    ],
    [{ encodings: contentEncodings(0, Buffer.alloc(0)) }, { code: 'video-compressed' }],
    [{ encodings: element(0x6d80, element(0x6240, uint(0x5033, 1))) }, { code: 'video-encrypted' }],
  ])('refuses with the reason: %o', async (more, reason) => {
    const bytes = mkvFile([{ ...H264_TRACK, ...more }, AAC_TRACK], clusters(FILM))
    await expect(indexOf(bytes)).rejects.toMatchObject({ code: 'unplayable', reason })
  })

  it.each([
    [
      'of another kind',
      Buffer.concat([ebmlHead('mka3d'), openElement(ID.segment)]),
      { code: 'ebml-type-unsupported', docType: 'mka3d' },
    ],
    [
      'without tracks',
      Buffer.concat([ebmlHead(), openElement(ID.segment), info()]),
      { code: 'track-list-missing' },
    ],
    ['without blocks', mkvFile(TRACKS, []), { code: 'tracks-missing' }],
    [
      'without key frames',
      mkvFile(TRACKS, [cluster(FILM.slice(1, 20))]),
      { code: 'key-frame-missing' },
    ],
  ])('refuses a file %s', async (_, bytes, reason) => {
    await expect(indexOf(bytes)).rejects.toMatchObject({ code: 'unplayable', reason })
  })
})

describe('text', () => {
  async function cuesOf(plan: Partial<TrackPlan>, payload: Uint8Array) {
    const cue: BlockPlan = { track: 3, time: 1500, frames: [payload], form: 'group', duration: 700 }
    const blocks = FILM.flatMap((each, i) => (i === 60 ? [each, cue] : [each]))
    const index = await indexOf(mkvFile([...TRACKS, { ...SRT_TRACK, ...plan }], clusters(blocks)))
    return index.subtitles?.[0]?.cues
  }

  it.each([
    [
      'S_TEXT/UTF8',
      '<i>Hello</i> & <font color="red">you</font>\r\n\r\n1 < 2 --> 3',
      '<i>Hello</i> &amp; you\n1 &lt; 2 --&gt; 3',
    ],
    ['S_TEXT/ASS', '4,0,Default,,0,0,0,,{\\i1}One, two{\\i0}\\Nthree', 'One, two\nthree'],
    ['S_TEXT/ASS', '4,0,Default,,0,0,0,,{\\p1}m 0 0 l 100 0{\\p0}seen', 'seen'],
    ['S_TEXT/SSA', '4,0,Default,,0,0,0,,plain <b>', 'plain &lt;b&gt;'],
    ['S_TEXT/WEBVTT', '<v Ann>Hello\n\nyou', '<v Ann>Hello\nyou'],
    ['D_WEBVTT/SUBTITLES', 'id\nline:0\nHello', 'Hello'],
  ])('reads %s: %j', async (codec, written, presented) => {
    const cues = await cuesOf({ codec }, Buffer.from(written))
    expect(cues).toEqual([{ startSeconds: 1.5, endSeconds: 2.2, text: presented }])
  })

  it('inflates compressed subtitles', async () => {
    const encodings = contentEncodings(0, Buffer.alloc(0))
    const cues = await cuesOf({ encodings }, deflateSync('Hello'))
    expect(cues).toMatchObject([{ text: 'Hello' }])
    expect(await cuesOf({ encodings }, deflateSync(Buffer.alloc(1_000_000)))).toEqual([])
  })
})

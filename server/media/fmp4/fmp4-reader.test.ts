// The reader of fragmented MP4: a real recording compared with FFmpeg's demuxer, and all layouts of
// fragments.
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { bytesFile, openDiskFile } from '../../../test/support/bytes-file.ts'
import { createRandom } from '../../../test/support/make/corrupt.ts'
import { checkGrowth } from '../../../test/support/verify/grow-recording.ts'
import {
  type FragmentForm,
  type FragmentSample,
  type TrafPlan,
  AAC_TRACK,
  H264_TRACK,
  fragment,
  fragmentMovie,
  initSegment,
  plainSamples,
  ticksOf,
} from '../../../test/support/make/make-fmp4.ts'
import { AVC_C, avc1, box, ftyp, fullBox, moov, u32 } from '../../../test/support/make/make-mp4.ts'
import { groupedSplitPoints } from '../../../test/support/verify/ts-segments.ts'
import {
  listSamples,
  presentationSeconds,
  rangesOf,
  readRuns,
  readServedSamples,
} from '../../../test/support/verify/served-samples.ts'
import { packetsOf, readReferencePackets } from '../../../test/support/verify/reference-packets.ts'
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME, durationSeconds } from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import { createFragmentedMp4Reader } from './fmp4-reader.ts'

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures/media/', import.meta.url))
const reader = createFragmentedMp4Reader()
const { signal } = new AbortController()

const OTHER_AVC_C = Buffer.from('0164002affe100046764002a01000468ee3cb0', 'hex')

/** A frame at 25 frames per second, and a frame of AAC. */
const VIDEO_FRAME = 3600
const FRAME = 1024

/**
 * Video and audio of about `seconds` each, in `count` parts, as a recorder writes them: key frame
 * first.
 */
function chunks(
  count: number,
  seconds = 2,
): { frames: FragmentSample[]; audioTracks: FragmentSample[] }[] {
  const frames = Math.round((seconds * 48_000) / FRAME)
  return Array.from({ length: count }, (_, at) => ({
    frames: plainSamples(seconds * 25, { duration: VIDEO_FRAME, keyEvery: 1000, seed: `v${at}` }),
    audioTracks: plainSamples(frames, { duration: FRAME, keyEvery: 1, seed: `a${at}` }),
  }))
}

/** Fragments of both tracks, one per part, with continuous decode times from the given start. */
function fragments(
  list: ReturnType<typeof chunks>,
  { traf = {}, form = {}, startAt = 0, from = [0, 0], times = 'told' }: FragmentsPlan = {},
): Buffer[] {
  let [videoTicks, audioTicks] = from
  let position = startAt
  return list.map(({ frames, audioTracks }) => {
    const trafs = [
      {
        trackId: 1,
        samples: frames,
        ...(times === 'told' && { decodeTicks: videoTicks }),
        ...traf,
      },
      {
        trackId: 2,
        samples: audioTracks,
        ...(times === 'told' && { decodeTicks: audioTicks }),
        ...traf,
      },
    ]
    videoTicks += ticksOf(frames)
    audioTicks += ticksOf(audioTracks)
    const made = fragment(trafs, { ...form, position })
    position += made.length
    return made
  })
}

interface FragmentsPlan {
  /** Whether fragments have decode times. */
  times?: 'told' | 'none'
  traf?: Partial<TrafPlan>
  form?: FragmentForm
  startAt?: number
  from?: [number, number]
}

interface Served {
  index: MediaIndex
  video: ServedSample[]
  audio: ServedSample[]
}

interface ServedSample {
  text: string
  seconds: number
  isKey: boolean
  splitPoint: number
}

/**
 * All samples in segments of this many split points, labelled by the text at the start of their
 * bytes.
 */
async function readAll(bytes: Buffer, splitPointsPerSegment = 1): Promise<Served> {
  const file = bytesFile(bytes)
  const index = structuredClone(await reader.index(file, signal))
  const video: ServedSample[] = []
  const audio: ServedSample[] = []
  for (const range of groupedSplitPoints(index, splitPointsPerSegment)) {
    const content = await reader.readSegment(file, index, range)
    for (const run of content.kind === 'samples' ? content.runs : []) {
      const list = run.kind === 'video' ? video : audio
      for (const { offset, presentationTicks, isKey } of listSamples(run)) {
        const text = bytes.toString('latin1', offset, offset + 20).split(';')[0] ?? ''
        const seconds = presentationTicks / run.timescale
        list.push({ text, seconds, isKey, splitPoint: range.from })
      }
    }
  }
  return { index, video, audio }
}

function subtitles(samples: readonly { text: string }[]): string[] {
  return samples.map(({ text }) => text)
}

function subtitlesOf(list: readonly FragmentSample[][]): string[] {
  return list.flat().map(({ data }) => Buffer.from(data).toString('latin1').split(';')[0] ?? '')
}

function startSeconds({ splitPoints }: MediaIndex): number[] {
  return Array.from(splitPoints.startTicks, (ticks) => ticks / splitPoints.timescale)
}

describe('a real fragmented recording', () => {
  const path = `${FIXTURES}fmp4-h264-aac-18frag.mp4`

  it.each([1, 2, 1000])(
    'is served packet for packet, %i split points per segment',
    async (splitPointsPerSegment) => {
      const file = await openDiskFile(path)
      const index = structuredClone(await reader.index(file, signal))
      const packets = await readReferencePackets(path)
      const segments = await readRuns(
        reader,
        { file, index },
        rangesOf(index, splitPointsPerSegment),
      )
      for (const [stream, kind] of (['video', 'audio'] as const).entries()) {
        const samples = await readServedSamples(file, segments, kind)
        const expected = packetsOf(packets, stream)
        expect(samples.map(({ sha1 }) => sha1)).toEqual(expected.map(({ sha1 }) => sha1))
        const late = samples.map(
          (sample, i) => sample.ptsSeconds - (expected[i]?.ptsSeconds ?? NaN),
        )
        expect(Math.max(...late.map(Math.abs))).toBeLessThan(1e-6)
        expect(samples.every(({ ptsSeconds, dtsSeconds }) => ptsSeconds >= dtsSeconds - 1e-9)).toBe(
          true,
        )
      }
      expect(index.tracks.map(({ codec }) => codec)).toEqual(['avc1.640015', 'mp4a.40.2'])
      const end = Math.max(...packets.map((packet) => packet.ptsSeconds + packet.durationSeconds))
      expect(durationSeconds(index)).toBeCloseTo(end, 2)
      await file.close()
    },
  )

  it('returns the key frame of a split point', async () => {
    const file = await openDiskFile(path)
    const index = await reader.index(file, signal)
    const keys = packetsOf(await readReferencePackets(path), 0).filter(({ isKey }) => isKey)
    const frame = await reader.readKeyFrame(file, index, 1)
    const requested = keys.find(
      ({ ptsSeconds }) => ptsSeconds >= (startSeconds(index)[1] ?? 0) - 1e-6,
    )
    expect(frame).toMatchObject({ codec: 'h264', rotationDegrees: 0 })
    expect(frame?.data.length).toBe(requested?.sizeBytes)
    await file.close()
  })
})

describe('layouts of fragments', () => {
  const list = chunks(5)
  const init = initSegment([H264_TRACK, AAC_TRACK])

  it.each<[string, FragmentsPlan]>([
    ['data after the moof (default-base-is-moof)', {}],
    ['absolute positions (base-data-offset)', { form: { base: 'file' }, startAt: init.length }],
    ['absolute positions after lost bytes', { form: { base: 'file' }, startAt: 9_000 }],
    ['absolute positions in concatenated files', { form: { base: 'file' }, startAt: 0 }],
    ['neither: each traf follows the previous one', { form: { base: 'implicit' } }],
    ['several truns', { traf: { truns: 4 } }],
    ['several contiguous truns', { traf: { truns: 4 }, form: { base: 'implicit' } }],
    ['defaults in tfhd and flags of the first sample', { traf: { fields: 'defaults' } }],
    ['64-bit sizes', { form: { mdatSize: 'long' } }],
    ['no decode times: the time continues', { times: 'none' }],
  ])('%s', async (_, plan) => {
    const made = fragments(list, plan)
    const served = await readAll(Buffer.concat([init, ...made]), 2)
    expect(subtitles(served.video)).toEqual(subtitlesOf(list.map(({ frames }) => frames)))
    expect(subtitles(served.audio)).toEqual(subtitlesOf(list.map(({ audioTracks }) => audioTracks)))
    served.video.forEach(({ seconds }, at) => expect(seconds).toBeCloseTo(at / 25, 6))
    served.audio.forEach(({ seconds }, at) => expect(seconds).toBeCloseTo((at * FRAME) / 48_000, 4))
    expect(startSeconds(served.index)).toEqual([0, 2, 4, 6, 8])
    expect(served.video.filter(({ isKey }) => isKey).length).toBe(5)
    const { source } = served.index
    expect(source.container === 'fmp4' && source.decodeTicks !== undefined).toBe(
      plan.times === 'none',
    )
  })

  it('ignores boxes between fragments', async () => {
    const between = [
      box('styp', Buffer.from('msdh'), u32(0)),
      fullBox('sidx', 0, Buffer.alloc(200)),
      fullBox('emsg', 1, Buffer.alloc(50)),
      box('free', Buffer.alloc(9)),
      fullBox('prft', 1, Buffer.alloc(24)),
    ]
    const mfra = box('mfra', box('mfro', u32(0, 1)))
    const plain = await readAll(Buffer.concat([init, ...fragments(list)]))
    const filled = fragments(list).flatMap((each) => [...between, each])
    const served = await readAll(Buffer.concat([init, ...filled, mfra]))
    expect(subtitles(served.video)).toEqual(subtitles(plain.video))
    expect(served.index.splitPoints).toEqual(plain.index.splitPoints)
  })

  it('puts audio into the segment of its video when each fragment has one track', async () => {
    let [video, audio] = [0, 0]
    const made = list.flatMap(({ frames, audioTracks }) => {
      const own = [
        fragment([{ trackId: 1, samples: frames, decodeTicks: video }]),
        fragment([{ trackId: 2, samples: audioTracks, decodeTicks: audio }]),
      ]
      video += ticksOf(frames)
      audio += ticksOf(audioTracks)
      return own
    })
    const served = await readAll(Buffer.concat([init, ...made]))
    expect(subtitles(served.audio)).toEqual(subtitlesOf(list.map(({ audioTracks }) => audioTracks)))
    expect(
      served.audio.map(({ text, splitPoint }) => text.startsWith(`a${splitPoint}:`)),
    ).not.toContain(false)
  })

  it('splits inside a fragment with several GOPs, audio by time', async () => {
    const frames = plainSamples(250, { duration: VIDEO_FRAME, keyEvery: 50, seed: 'v' })
    const audioTracks = plainSamples(469, { duration: FRAME, keyEvery: 1, seed: 'a' })
    const halves = [frames.slice(0, 125), frames.slice(125)]
    const made = halves.flatMap((half, at) => {
      const part = audioTracks.slice(at * 235, at * 235 + 235)
      return [
        fragment([{ trackId: 1, samples: half, decodeTicks: at * 125 * VIDEO_FRAME }]),
        fragment([{ trackId: 2, samples: part, decodeTicks: at * 235 * FRAME }]),
      ]
    })
    const bytes = Buffer.concat([init, ...made])
    for (const splitPointsPerSegment of [1, 2, 3, 5]) {
      const served = await readAll(bytes, splitPointsPerSegment)
      expect(startSeconds(served.index)).toEqual([0, 2, 4, 6, 8])
      expect(subtitles(served.video)).toEqual(subtitlesOf([frames]))
      expect(subtitles(served.audio)).toEqual(subtitlesOf([audioTracks]))
      const { video } = served
      expect(
        video
          .filter(({ splitPoint }, at) => splitPoint !== video[at - 1]?.splitPoint)
          .every(({ isKey }) => isKey),
      ).toBe(true)
      const late = served.audio.filter(
        ({ seconds, splitPoint }) => seconds < (startSeconds(served.index)[splitPoint] ?? 0) - 0.03,
      )
      expect(late.length).toBeLessThan(2)
    }
    await checkGrowth({ reader, bytes }, [
      init.length + 5000,
      bytes.length - 15_000,
      bytes.length - 5000,
    ])
  })

  it('needs few split points and few reads for fragments of one frame', async () => {
    const frames = plainSamples(500, { duration: VIDEO_FRAME, keyEvery: 50, seed: 'v' })
    const audioTracks = plainSamples(938, { duration: FRAME, keyEvery: 1, seed: 'a' })
    let next = 0
    const made = frames.flatMap((frame, at) => {
      const own = [fragment([{ trackId: 1, samples: [frame], decodeTicks: at * VIDEO_FRAME }])]
      for (; next < audioTracks.length && next * FRAME * 25 < (at + 1) * 48_000; next += 1) {
        const samples = audioTracks.slice(next, next + 1)
        own.push(fragment([{ trackId: 2, samples, decodeTicks: next * FRAME }]))
      }
      return own
    })
    const bytes = Buffer.concat([init, ...made])
    const served = await readAll(bytes, 3)
    expect(startSeconds(served.index)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18])
    expect(subtitles(served.video)).toEqual(subtitlesOf([frames]))
    expect(subtitles(served.audio)).toEqual(subtitlesOf([audioTracks]))
    let reads = 0
    const file = bytesFile(bytes)
    const counting = {
      ...file,
      read: (buffer: Uint8Array, at: number) => ((reads += 1), file.read(buffer, at)),
    }
    await reader.readSegment(counting, served.index, { from: 3, to: 6 })
    expect(reads).toBeLessThan(6)
    const random = createRandom(9)
    const sizes = Array.from({ length: 40 }, () => random(bytes.length)).toSorted((a, b) => a - b)
    const indexes = await checkGrowth({ reader, bytes }, sizes)
    expect(indexes.at(-1)?.growth?.stableSplitPoints).toBe(10)
  })
})

describe('time', () => {
  const init = initSegment([H264_TRACK, AAC_TRACK])

  it('starts at 0 for any start of the fragments, even above 2^53', async () => {
    const list = chunks(3)
    for (const hours of [100, 470_000]) {
      const from: [number, number] = [hours * 3600 * 90_000, hours * 3600 * 48_000 + 4800]
      const served = await readAll(Buffer.concat([init, ...fragments(list, { from })]))
      expect(served.video[0]?.seconds).toBe(0)
      expect(served.audio[0]?.seconds).toBeCloseTo(0.1, 5)
      expect(startSeconds(served.index)).toEqual([0, 2, 4])
    }
    const fine = initSegment([{ ...H264_TRACK, timescale: 10_000_000 }])
    const made = [0, 1, 2].map((at) => {
      const samples = plainSamples(50, { duration: 400_000, keyEvery: 100, seed: `v${at}` })
      return fragment([{ trackId: 1, samples, decodeTicks: 1.7e16 + at * 20_000_000 }])
    })
    const served = await readAll(Buffer.concat([fine, ...made]))
    served.video.forEach(({ seconds }, at) => expect(seconds).toBeCloseTo(at / 25, 5))
  })

  it('applies the edit lists of the movie', async () => {
    const list = chunks(2)
    const edited = initSegment([
      {
        ...H264_TRACK,
        edits: [
          [500, -1],
          [0, 0],
        ],
      },
      { ...AAC_TRACK, edits: [[0, FRAME]] },
    ])
    const served = await readAll(Buffer.concat([edited, ...fragments(list)]))
    expect(served.audio[0]?.seconds).toBe(0)
    expect(served.video[0]?.seconds).toBeCloseTo(0.5 + FRAME / 48_000, 4)
    expect(startSeconds(served.index)[0]).toBe(0)
  })

  it('handles negative composition offsets by decoding earlier', async () => {
    const order = [0, 2, -1, -1]
    const list = chunks(3).map(({ frames, audioTracks }) => ({
      audioTracks,
      frames: frames.map((frame, at) => ({
        ...frame,
        offset: (order[at % 4] ?? 0) * VIDEO_FRAME,
      })),
    }))
    const file = bytesFile(Buffer.concat([init, ...fragments(list)]))
    const index = await reader.index(file, signal)
    const presented: number[] = []
    for (const range of rangesOf(index, 1)) {
      const content = await reader.readSegment(file, index, range)
      const runs = content.kind === 'samples' ? content.runs : []
      expect(
        runs.every((run) => run.compositionOffsets?.every((offset) => offset >= 0) ?? true),
      ).toBe(true)
      presented.push(...runs.filter(({ kind }) => kind === 'video').flatMap(presentationSeconds))
    }
    const expected = Array.from(
      { length: 150 },
      (_, at) => ((at % 50) + (order[(at % 50) % 4] ?? 0)) / 25 + Math.floor(at / 50) * 2,
    )
    presented.forEach((seconds, at) => expect(seconds).toBeCloseTo(expected[at] ?? NaN, 4))
  })

  it.each([
    ['back to 0', [0, 0] as [number, number]],
    ['an hour forward', [3600 * 90_000, 3600 * 48_000] as [number, number]],
  ])('starts a discontinuity without a gap when times jump %s', async (_, from) => {
    const first = chunks(3)
    const second = chunks(3).map(({ frames, audioTracks }) => ({
      frames: frames.map((each) => ({
        ...each,
        data: Buffer.from(`w${Buffer.from(each.data).toString('latin1')}`, 'latin1'),
      })),
      audioTracks: audioTracks.map((each) => ({
        ...each,
        data: Buffer.from(`b${Buffer.from(each.data).toString('latin1')}`, 'latin1'),
      })),
    }))
    const bytes = Buffer.concat([
      init,
      ...fragments(first, { from: [5 * 90_000, 5 * 48_000] }),
      ...fragments(second, { from }),
    ])
    const served = await readAll(bytes, 2)
    expect([...served.index.splitPoints.flags]).toEqual([
      1,
      1,
      1,
      SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY,
      1,
      1,
    ])
    const expected = [0, 2, 4, 6.016, 8.016, 10.016]
    startSeconds(served.index).forEach((seconds, at) =>
      expect(seconds).toBeCloseTo(expected[at] ?? NaN, 2),
    )
    expect(served.video.length).toBe(300)
    expect(served.audio.length).toBe(
      first.concat(second).flatMap(({ audioTracks }) => audioTracks).length,
    )
    const ordered = served.video.map(({ seconds }) => seconds)
    expect(ordered).toEqual(ordered.toSorted((a, b) => a - b))
    const random = createRandom(5)
    const sizes = Array.from({ length: 40 }, () => random(bytes.length)).toSorted((a, b) => a - b)
    await checkGrowth({ reader, bytes }, sizes)
  })

  it('starts the discontinuity with the audio fragment if the audio jumps first', async () => {
    const list = chunks(2)
    const each = (from: [number, number], name: string) =>
      list.flatMap(({ frames, audioTracks }, at) => [
        fragment([
          {
            trackId: 2,
            samples: audioTracks.map((one) => ({ ...one, data: Buffer.from(`${name}a;${at}`) })),
            decodeTicks: from[1] + at * ticksOf(audioTracks),
          },
        ]),
        fragment([
          {
            trackId: 1,
            samples: frames.map((one) => ({ ...one, data: Buffer.from(`${name}v;${at}`) })),
            decodeTicks: from[0] + at * ticksOf(frames),
          },
        ]),
      ])
    const bytes = Buffer.concat([init, ...each([900_000, 480_000], 'x'), ...each([0, 0], 'y')])
    const served = await readAll(bytes)
    expect(served.index.splitPoints.flags[2]).toBe(SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY)
    expect(
      served.audio.filter(({ text }) => text === 'ya').every(({ splitPoint }) => splitPoint >= 2),
    ).toBe(true)
    expect(
      served.audio.filter(({ text }) => text === 'xa').every(({ splitPoint }) => splitPoint < 2),
    ).toBe(true)
    expect(served.audio.length).toBe(list.flatMap(({ audioTracks }) => audioTracks).length * 2)
  })

  it('treats a pause of the video with continuous audio as no discontinuity', async () => {
    const [first, , last] = chunks(3)
    const audioTracks = plainSamples(1500, { duration: FRAME, keyEvery: 1, seed: 'a' })
    const part = (from: number, to: number) =>
      fragment([{ trackId: 2, samples: audioTracks.slice(from, to), decodeTicks: from * FRAME }])
    const made = [
      fragment([{ trackId: 1, samples: first?.frames ?? [], decodeTicks: 0 }]),
      ...Array.from({ length: 15 }, (_, at) => part(at * 94, at * 94 + 94)),
      fragment([{ trackId: 1, samples: last?.frames ?? [], decodeTicks: 30 * 90_000 }]),
    ]
    const bytes = Buffer.concat([init, ...made])
    const served = await readAll(bytes, 3)
    expect(
      served.index.splitPoints.flags.every((flags) => (flags & SPLIT_DISCONTINUITY) === 0),
    ).toBe(true)
    expect(startSeconds(served.index).at(-1)).toBe(30)
    expect(served.audio.length).toBe(15 * 94)
    expect(served.video.length).toBe(100)
    expect(served.index.splitPoints.flags.filter((flags) => flags === 0).length).toBeGreaterThan(5)
    await checkGrowth(
      { reader, bytes },
      Array.from({ length: 30 }, (_, at) => Math.round((bytes.length * at) / 30)),
    )
  })
})

describe('movies', () => {
  it('ignores a repeated movie; a changed one is a discontinuity with a new init', async () => {
    const [first, second] = [
      fragments(chunks(2)),
      fragments(chunks(2), { from: [4 * 90_000, 188 * FRAME] }),
    ]
    const init = initSegment([H264_TRACK, AAC_TRACK])
    const same = Buffer.concat([init, ...first, init, ...second])
    const served = await readAll(same)
    expect([...served.index.splitPoints.flags]).toEqual([1, 1, 1, 1])
    expect(served.video.length).toBe(200)

    const other = initSegment([
      { ...H264_TRACK, timescale: 90_000, sampleEntries: [avc1(OTHER_AVC_C, 640, 360)] },
      AAC_TRACK,
    ])
    const bytes = Buffer.concat([init, ...first, other, ...second])
    const changed = await readAll(bytes)
    expect([...changed.index.splitPoints.flags]).toEqual([1, 1, 3, 1])
    expect(changed.video.length).toBe(200)
    const entry = (splitPoint: number) =>
      Buffer.from(reader.initTracks(changed.index, splitPoint)?.[0]?.sampleEntry ?? []).includes(
        OTHER_AVC_C,
      )
    expect([0, 1, 2, 3].map(entry)).toEqual([false, false, true, true])
    await checkGrowth(
      { reader, bytes },
      Array.from({ length: 40 }, (_, at) => Math.round((bytes.length * at) / 40)),
    )
  })

  it('treats another sample entry of the same movie as a discontinuity', async () => {
    const init = initSegment([{ ...H264_TRACK, sampleEntries: [avc1(AVC_C), avc1(OTHER_AVC_C)] }])
    const made = chunks(4).map(({ frames }, at) =>
      fragment([
        {
          trackId: 1,
          samples: frames,
          decodeTicks: at * 2 * 90_000,
          description: at < 2 ? 1 : 2,
        },
      ]),
    )
    const served = await readAll(Buffer.concat([init, ...made]))
    expect([...served.index.splitPoints.flags]).toEqual([1, 1, 3, 1])
    const entry = (splitPoint: number) =>
      Buffer.from(reader.initTracks(served.index, splitPoint)?.[0]?.sampleEntry ?? []).includes(
        OTHER_AVC_C,
      )
    expect([0, 1, 2, 3].map(entry)).toEqual([false, false, true, true])
  })

  it('refuses a recording without its start, or encrypted', async () => {
    const without = bytesFile(
      Buffer.concat([box('styp', Buffer.from('msdh'), u32(0)), ...fragments(chunks(2))]),
    )
    await expect(reader.index(without, signal)).rejects.toMatchObject({
      code: 'unplayable',
      reason: { code: 'moov-before-start' },
    })
    const encrypted = initSegment([
      { ...H264_TRACK, sampleEntries: [box('encv', Buffer.alloc(78))] },
    ])
    await expect(reader.index(bytesFile(encrypted), signal)).rejects.toMatchObject({
      code: 'unplayable',
      reason: { code: 'video-encrypted' },
    })
    await expect(reader.index(bytesFile(initSegment([H264_TRACK])), signal)).rejects.toMatchObject({
      code: 'unplayable',
      reason: { code: 'frames-missing' },
    })
    expect(fragmentMovie([H264_TRACK]).length).toBeGreaterThan(ftyp().length)
  })
})

describe('missing samples', () => {
  it('start at the first key frame', async () => {
    const init = initSegment([H264_TRACK, AAC_TRACK])
    const [first, ...others] = chunks(3)
    const late = {
      audioTracks: first?.audioTracks ?? [],
      frames: (first?.frames ?? []).map((each, at) => ({ ...each, isKey: at === 20 })),
    }
    const served = await readAll(Buffer.concat([init, ...fragments([late, ...others])]))
    expect(served.video[0]).toMatchObject({ text: 'v0:20', isKey: true })
    expect(served.video.length).toBe(130)
  })

  it('are unplayable if no frame is a key frame', async () => {
    const samples = plainSamples(50, { duration: VIDEO_FRAME, keyEvery: 1, seed: 'v' })
    const made = fragment([
      { trackId: 1, samples: samples.map((each) => ({ ...each, isKey: false })), decodeTicks: 0 },
    ])
    const file = bytesFile(Buffer.concat([initSegment([H264_TRACK, AAC_TRACK]), made]))
    await expect(reader.index(file, signal)).rejects.toMatchObject({
      code: 'unplayable',
      reason: { code: 'key-frame-missing' },
    })
  })

  it('continue from fragments that the recorder finally replaced by a sample table', async () => {
    const hidden = Buffer.concat([initSegment([H264_TRACK, AAC_TRACK]), ...fragments(chunks(6))])
    const previous = await reader.index(bytesFile(hidden.subarray(0, -9000)), signal)
    const plan = { ...H264_TRACK, durations: [], sizes: [], chunkRuns: [], chunkOffsets: [] }
    const closed = Buffer.concat([hidden, moov([plan])])
    const first = ftyp().length
    closed.writeUInt32BE(hidden.length - first, first)
    closed.write('mdat', first + 4)
    const index = await reader.index(bytesFile(closed), signal, previous)
    const stable = previous.growth?.stableSplitPoints ?? 0
    expect(stable).toBeGreaterThan(2)
    expect(index.splitPoints.startTicks.length).toBe(6)
    expect(index.splitPoints.startTicks.slice(0, stable)).toEqual(
      previous.splitPoints.startTicks.slice(0, stable),
    )
    const range = { from: 4, to: 6 }
    const content = await reader.readSegment(bytesFile(closed), index, range)
    const runs = content.kind === 'samples' ? content.runs : []
    expect(runs.find(({ kind }) => kind === 'video')?.sizes.length).toBe(100)
  })

  it('of the audio leave video', async () => {
    const made = chunks(3).map(({ frames }, at) =>
      fragment([{ trackId: 1, samples: frames, decodeTicks: at * 2 * 90_000 }]),
    )
    const served = await readAll(Buffer.concat([initSegment([H264_TRACK, AAC_TRACK]), ...made]))
    expect(served.index.tracks.map(({ kind }) => kind)).toEqual(['video'])
    expect(reader.initTracks(served.index, 0)?.length).toBe(1)
  })

  it('at the truncated end leave the complete ones', async () => {
    const init = initSegment([H264_TRACK, AAC_TRACK])
    const made = fragments(chunks(3))
    const whole = Buffer.concat([init, ...made])
    const lastBytes = made.at(-1)?.length ?? 0
    for (const missing of [1, 100, 3000, 5000, lastBytes - 1]) {
      const served = await readAll(whole.subarray(0, whole.length - missing))
      expect(served.video.length).toBeGreaterThanOrEqual(100)
      expect(served.video.length).toBeLessThanOrEqual(150)
      expect(served.audio.length).toBeLessThan(282)
    }
  })

  it('of corrupt fragments do not affect the next fragment', async () => {
    const init = initSegment([H264_TRACK, AAC_TRACK])
    const made = fragments(chunks(6))
    const corrupt = made.map((each, at) =>
      at === 2 ? Buffer.concat([Buffer.alloc(700, 0xff), each.subarray(700)]) : each,
    )
    const served = await readAll(Buffer.concat([init, ...corrupt]))
    expect(served.video.length).toBe(250)
    expect(served.video.some(({ text }) => text.startsWith('v2'))).toBe(false)
    expect(startSeconds(served.index)).toEqual([0, 2, 6, 8, 10])
  })
})

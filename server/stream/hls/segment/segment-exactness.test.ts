// Every segment decodes alone, and its EXTINF is the time to the first frame of the next one.
import { describe, expect, it } from 'vitest'
import { createAudioTranscoder } from '../../../decode/audio/audio-transcoder.ts'
import { readWholeBody } from '../../delivery/read-body.ts'
import { createMediaReaders } from '../../../media/readers.ts'
import { SPLIT_KEY_FRAME } from '../../../media/media-index.ts'
import type { MediaIndex, SplitPointTable } from '../../../media/media-index.ts'
import { bytesFile } from '../../../../test/support/bytes-file.ts'
import { checkGrowth } from '../../../../test/support/verify/grow-recording.ts'
import { encodeVideo, withSparseSets } from '../../../../test/support/make/encode-video.ts'
import type { EncodedFrame, EncodeOptions } from '../../../../test/support/make/encode-video.ts'
import { makeHlsRecording } from '../../../../test/support/make/make-hls-recording.ts'
import { patienceMs, patientDecoder } from '../../../../test/support/patience.ts'
import { playSegments } from '../../../../test/support/verify/play-segments.ts'
import type { PlayedSegment } from '../../../../test/support/verify/play-segments.ts'
import { writeVideo } from '../../../../test/support/make/write-video.ts'
import type { WrittenContainer, WrittenVideo } from '../../../../test/support/make/write-video.ts'
import { planGrowingSegments, planSegments } from '../playlist/segment-plan.ts'
import type { SegmentPlan } from '../playlist/segment-plan.ts'
import { MAIN } from '../playlist/segment-names.ts'

const SEGMENT_SECONDS = 2
const LONGEST_SECONDS = 12
const readers = createMediaReaders()
const transcoder = createAudioTranscoder({ limits: patientDecoder })
transcoder.close()

interface CheckedSegment extends PlayedSegment {
  extinfSeconds: number
  followsDiscontinuity: boolean
  isKey: boolean
}

type Planner = (index: MediaIndex) => SegmentPlan

const planFinished: Planner = ({ splitPoints }) =>
  planSegments(splitPoints, { segmentSeconds: SEGMENT_SECONDS })
const planGrowing: Planner = ({ splitPoints, growth }) =>
  planGrowingSegments(splitPoints, {
    segmentSeconds: SEGMENT_SECONDS,
    longestSeconds: LONGEST_SECONDS,
    stableSplitPoints: growth?.stableSplitPoints ?? 0,
  })

async function playRecording(bytes: Buffer, plan: Planner): Promise<CheckedSegment[]> {
  const file = bytesFile(bytes)
  const reader = await readers.forFile(file)
  const index = await reader.index(file, AbortSignal.timeout(patienceMs))
  const recording = makeHlsRecording(
    { file, index, reader },
    { plan: plan(index), segmentSeconds: SEGMENT_SECONDS, transcoder },
  )
  const { form } = recording
  const segments: Buffer[] = []
  let init: Uint8Array = Buffer.alloc(0)
  for (const number of recording.plan.segments.keys()) {
    const address = { segmentNumber: number, form, rendition: MAIN }
    if (form === 'fmp4') init = (await recording.init(address, file)) ?? init
    const body = await recording.mainSegment(number, file)
    if (body === undefined) throw new Error('there is no such segment')
    segments.push(Buffer.concat([init, await readWholeBody(file, body)]))
  }
  const played = await playSegments(segments, form === 'ts' ? 'ts' : 'mp4')
  const { timescale } = recording.plan
  return recording.plan.segments.map((segment, i) => {
    const of = played[i]
    if (of === undefined) throw new Error('a segment was not played')
    return {
      ...of,
      extinfSeconds: (segment.endTicks - segment.startTicks) / timescale,
      followsDiscontinuity: segment.followsDiscontinuity,
      isKey: hasKey(index.splitPoints, segment.from),
    }
  })
}

function hasKey({ flags }: SplitPointTable, splitPoint: number): boolean {
  return ((flags[splitPoint] ?? 0) & SPLIT_KEY_FRAME) !== 0
}

/** Largest difference of an EXTINF from the time to the first frame of the next segment. */
function worstExtinf(segments: readonly CheckedSegment[]): number {
  const differences = segments.slice(0, -1).map(({ frameSeconds, extinfSeconds }, i) => {
    const next = segments[i + 1]
    if (next === undefined || next.followsDiscontinuity) return 0
    return Math.abs(Math.min(...next.frameSeconds) - Math.min(...frameSeconds) - extinfSeconds)
  })
  return Math.max(0, ...differences)
}

function expectAlone(segments: readonly CheckedSegment[]): void {
  for (const [number, { isKey, startsWithKey, errors, frames, decoded }] of segments.entries()) {
    if (!isKey) continue
    expect({ number, startsWithKey, errors, decoded }).toEqual({
      number,
      startsWithKey: true,
      errors: 0,
      decoded: frames,
    })
  }
}

const CONTAINERS: WrittenContainer[] = ['fmp4', 'mp4', 'ts', 'mkv', 'flv']
type VideoCodec = EncodeOptions['codec']
const encodedVideos = new Map<string, EncodedFrame[]>()

function encoded(options: EncodeOptions): EncodedFrame[] {
  const key = JSON.stringify(options)
  const known = encodedVideos.get(key) ?? encodeVideo(options)
  encodedVideos.set(key, known)
  return known
}

const FRAMES = 250

function tenSeconds(codec: VideoCodec, params = 'bframes=2'): EncodedFrame[] {
  return encoded({ codec, frames: FRAMES, gop: 50, params })
}

/** Two encodings one after the other, which differ in their parameter sets. */
function changed(codec: VideoCodec): EncodedFrame[] {
  const first = tenSeconds(codec)
  const other =
    codec === 'h264' ? 'bframes=2:cabac=1:level=4.0' : 'bframes=2:sign-hide=0:sao=0:amp=1:rect=1'
  const second = tenSeconds(codec, other).map((frame) => ({
    ...frame,
    pts: frame.pts + FRAMES,
    dts: frame.dts + FRAMES,
  }))
  return [...first, ...second]
}

interface SparseCase {
  name: string
  containers: WrittenContainer[]
  video: Omit<WrittenVideo, 'frames'>
  frames: (codec: VideoCodec) => EncodedFrame[]
}

const onlyAt = (numbers: number[]) => (codec: VideoCodec, frames: EncodedFrame[]) =>
  withSparseSets(codec, frames, ({ pts }) => numbers.includes(pts))

const SPARSE: SparseCase[] = (['h264', 'hevc'] as const).flatMap((codec): SparseCase[] => {
  const inBand = codec === 'h264' ? 'avc3' : 'hev1'
  return [
    {
      name: `${codec}: sets in the first key frame alone`,
      containers: ['ts'],
      video: { codec },
      frames: () => onlyAt([0])(codec, tenSeconds(codec)),
    },
    {
      name: `${codec}: ${inBand} without sets in the configuration, which the first key frame has`,
      containers: ['fmp4', 'mp4'],
      video: { codec, entry: inBand, recorded: 'none' },
      frames: () => onlyAt([0])(codec, tenSeconds(codec)),
    },
    {
      name: `${codec}: sets in the configuration alone`,
      containers: ['fmp4', 'mp4', 'mkv', 'flv'],
      video: { codec },
      frames: () => tenSeconds(codec),
    },
    {
      name: `${codec}: sets that change after those in the configuration`,
      containers: ['flv'],
      video: { codec },
      frames: () => onlyAt([0, FRAMES])(codec, changed(codec)),
    },
    {
      name: `${codec}: sets that change, in the first key frame and in the one that needs others`,
      containers: ['fmp4', 'mp4', 'ts'],
      video: { codec, entry: inBand, recorded: 'none' },
      frames: () => onlyAt([0, FRAMES])(codec, changed(codec)),
    },
  ]
})

describe('a segment decodes alone', () => {
  const cases = SPARSE.flatMap((each) =>
    each.containers.map((container) => ({
      ...each,
      container,
      title: `${container}, ${each.name}`,
    })),
  )
  it.each(cases)('$title', async ({ container, video, frames }) => {
    const bytes = writeVideo(container, { ...video, frames: frames(video.codec) })
    const segments = await playRecording(bytes, planFinished)
    expect(segments.length).toBeGreaterThanOrEqual(5)
    expectAlone(segments)
    expect(worstExtinf(segments)).toBeLessThan(0.002)
  })
})

describe('EXTINF of a GOP that is split without a key frame', () => {
  const times = {
    even: (number: number) => number * 40,
    doubled: (number: number) => Math.floor(number / 2) * 80,
    irregular: (number: number) => number * 40 + (number % 5) * 37,
  }
  const cases = CONTAINERS.filter((each) => each !== 'mp4').flatMap((container) =>
    (['even', 'doubled', 'irregular'] as const).map((form) => ({ container, form })),
  )
  it.each(cases)('$container, $form times', async ({ container, form }) => {
    const frames = encoded({
      codec: 'h264',
      frames: 1000,
      gop: 900,
      params: 'bframes=3:b-pyramid=normal',
    })
    const timeMs = times[form]
    const bytes = writeVideo(container, { codec: 'h264', frames, timeMs, fragmentFrames: 1 })
    const segments = await playRecording(bytes, planGrowing)
    expect(segments.length).toBeGreaterThanOrEqual(2)
    expect(worstExtinf(segments)).toBeLessThan(0.002)
    // No EXTINF that was listed changes.
    const file = bytesFile(bytes)
    const reader = await readers.forFile(file)
    const sizes = Array.from(
      { length: 12 },
      (_, i) => Math.round((bytes.length * (i + 4)) / 17) + i,
    )
    await checkGrowth({ reader, bytes }, sizes)
  })
})

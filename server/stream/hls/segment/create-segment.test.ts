// Recordings with video that ends early: HLS has all recorded packets, and a frame at any time.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { bytesFile } from '../../../../test/support/bytes-file.ts'
import {
  AAC_TRACK,
  clusters,
  filmBlocks,
  H264_TRACK,
  mkvFile,
} from '../../../../test/support/make/make-mkv.ts'
import { makeHlsRecording } from '../../../../test/support/make/make-hls-recording.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { readReferencePackets } from '../../../../test/support/verify/reference-packets.ts'
import type { ReferencePacket } from '../../../../test/support/verify/reference-packets.ts'
import { createMatroskaReader } from '../../../media/matroska/matroska-reader.ts'
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME } from '../../../media/media-index.ts'
import type { SplitPointTable } from '../../../media/media-index.ts'
import { createAudioTranscoder } from '../../../decode/audio/audio-transcoder.ts'
import { readWholeBody } from '../../delivery/read-body.ts'
import { lastKeySplitPoint } from './last-key-split-point.ts'
import { MAIN } from '../playlist/segment-names.ts'
import { planGrowingSegments, planSegments } from '../playlist/segment-plan.ts'
import type { SegmentPlan } from '../playlist/segment-plan.ts'
import { patienceMs, patientDecoder } from '../../../../test/support/patience.ts'

const FRAME_SECONDS = 10
const transcoder = createAudioTranscoder({ limits: patientDecoder })
const folder = makeTempFolder('filling')

afterAll(() => transcoder.close())

/** A recording with video that ends after ten seconds, and audio that continues. */
function longerAudio(seconds: number): Buffer {
  const blocks = filmBlocks({ seconds })
  const recorded = blocks.filter(({ track, time }) => track === 2 || time < FRAME_SECONDS * 1000)
  return mkvFile([H264_TRACK, AAC_TRACK], clusters(recorded))
}

/** The packets of each segment. */
async function readSegments(
  bytes: Buffer,
  plan: (splitPoints: SplitPointTable) => SegmentPlan = (splitPoints) =>
    planSegments(splitPoints, { segmentSeconds: 6 }),
): Promise<ReferencePacket[][]> {
  const file = bytesFile(bytes)
  const reader = createMatroskaReader()
  const index = await reader.index(file, AbortSignal.timeout(patienceMs))
  const recording = makeHlsRecording(
    { file, index, reader },
    { plan: plan(index.splitPoints), segmentSeconds: 6, transcoder },
  )
  const init = await recording.init({ segmentNumber: 0, form: 'fmp4', rendition: MAIN }, file)
  const segments: ReferencePacket[][] = []
  for (const number of recording.plan.segments.keys()) {
    const body = await recording.mainSegment(number, file)
    if (init === undefined || body === undefined) throw new Error('there is no such segment')
    const path = join(folder, `${number}.mp4`)
    await writeFile(path, Buffer.concat([init, await readWholeBody(file, body)]))
    segments.push(await readReferencePackets(path))
  }
  return segments
}

/** Start and end of a segment's video, in whole seconds; empty without video. */
function videoSeconds(packets: readonly ReferencePacket[]): number[] {
  const frames = packets.filter(({ kind }) => kind === 'video')
  const last = frames.at(-1)
  if (frames[0] === undefined || last === undefined) return []
  return [frames[0].ptsSeconds, last.ptsSeconds + last.durationSeconds].map(Math.round)
}

describe('video that ends before the audio', () => {
  it('is extended to the end if that is near, and no packet is added', async () => {
    const bytes = longerAudio(33)
    const path = join(folder, 'source.mkv')
    await writeFile(path, bytes)
    const source = await readReferencePackets(path)
    const segments = await readSegments(bytes)
    expect(segments.map(videoSeconds)).toEqual([
      [0, 6],
      [6, 33],
    ])
    for (const expectedKind of ['video', 'audio'] as const) {
      const payloads = (packets: readonly ReferencePacket[]) =>
        packets.filter(({ kind }) => kind === expectedKind).map(({ sha1 }) => sha1)
      expect(payloads(segments.flat())).toEqual(payloads(source))
    }
  })

  it('is extended by half a minute, and then the last key frame is repeated', async () => {
    const segments = await readSegments(longerAudio(60))
    expect(segments.map(videoSeconds)).toEqual([
      [0, 6],
      [6, 38],
      [38, 44],
      [44, 50],
      [50, 56],
      [56, 60],
    ])
    const frames = segments.map((packets) => packets.filter(({ kind }) => kind === 'video'))
    expect(frames.slice(2).map(({ length }) => length)).toEqual([1, 1, 1, 1])
  })

  it('is repeated in each segment of a growing recording', async () => {
    const rules = { segmentSeconds: 6, longestSeconds: 12, finishedBytes: 1 }
    const segments = await readSegments(longerAudio(33), (splitPoints) =>
      planGrowingSegments(splitPoints, { ...rules, stableSplitPoints: splitPoints.flags.length }),
    )
    expect(segments.map(videoSeconds)).toEqual([
      [0, 6],
      [6, 12],
      [12, 18],
      [18, 24],
      [24, 30],
      [30, 33],
    ])
  })
})

describe('lastKeySplitPoint', () => {
  it('finds the key frame before a split point, but not across a discontinuity', () => {
    const flags = Uint8Array.of(SPLIT_KEY_FRAME, 0, 0, SPLIT_DISCONTINUITY, 0)
    const splitPoints = { timescale: 1, startTicks: new Float64Array(5), endTicks: 5, flags }
    expect([0, 1, 2, 3, 4].map((splitPoint) => lastKeySplitPoint(splitPoints, splitPoint))).toEqual(
      [0, 0, 0, undefined, undefined],
    )
  })
})

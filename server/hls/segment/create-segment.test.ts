// Where pictures end early, what was recorded comes through HLS as it is, and a picture is there at any time.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import {
  AAC_TRACK,
  clusters,
  filmBlocks,
  H264_TRACK,
  mkvFile,
} from '../../../test/support/make-mkv.ts'
import { readReferencePackets } from '../../../test/support/reference-packets.ts'
import type { ReferencePacket } from '../../../test/support/reference-packets.ts'
import { createMatroskaReader } from '../../media/matroska/matroska-reader.ts'
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME } from '../../media/media-index.ts'
import type { SplitPointTable } from '../../media/media-index.ts'
import { createAudioTranscoder } from '../../audio/audio-transcoder.ts'
import { BufferPool, BufferLease } from '../../delivery/buffer-pool.ts'
import { eachChunk } from '../../delivery/chunk-source.ts'
import { createSegmentBodies, Presentation } from '../session/presentation.ts'
import { readBody } from '../../delivery/read-body.ts'
import { lastKeySplitPoint } from './segment-filling.ts'
import { MAIN } from '../playlist/segment-names.ts'
import { planGrowingSegments, planSegments } from '../playlist/segment-plan.ts'
import type { SegmentPlan } from '../playlist/segment-plan.ts'
import { TranscodedAudio } from './transcoded-audio.ts'
import { patienceMs } from '../../../test/support/patience.ts'

const FRAME_SECONDS = 10
const transcoder = createAudioTranscoder()
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aftercast-filling-'))
})
afterAll(async () => {
  transcoder.close()
  await rm(folder, { recursive: true })
})

/** A recording whose pictures end after ten seconds, and whose sound goes on. */
function audioGoesOn(seconds: number): Buffer {
  const blocks = filmBlocks({ seconds })
  const kept = blocks.filter(({ track, time }) => track === 2 || time < FRAME_SECONDS * 1000)
  return mkvFile([H264_TRACK, AAC_TRACK], clusters(kept))
}

/** The packets of each segment. */
async function served(
  bytes: Buffer,
  plan: (splitPoints: SplitPointTable) => SegmentPlan = (splitPoints) =>
    planSegments(splitPoints, 6),
): Promise<ReferencePacket[][]> {
  const file = bytesFile(bytes)
  const reader = createMatroskaReader()
  const index = await reader.index(file, AbortSignal.timeout(patienceMs))
  const presentation = new Presentation(
    {
      session: { streamer: 'alice', date: '2026-01-31', sessionId: '1' },
      identity: 'film',
      stat: file.stat,
      plan: plan(index.splitPoints),
      index,
      reader,
    },
    { segmentSeconds: 6, encryption: 'none', secret: 'secret' },
    {
      bodies: createSegmentBodies(),
      audioTracks: new TranscodedAudio({
        transcoder,
        log: { warn: () => undefined },
        signal: new AbortController().signal,
      }),
    },
  )
  const init = await presentation.init({ segmentNumber: 0, form: 'fmp4', rendition: MAIN }, file)
  const segments: ReferencePacket[][] = []
  for (const number of presentation.plan.segments.keys()) {
    const body = await presentation.mainSegment(number, file)
    if (init === undefined || body === undefined) throw new Error('there is no such segment')
    const chunks: Uint8Array[] = [init]
    const lent = new BufferLease(new BufferPool())
    for await (const chunk of eachChunk(readBody(file, body, lent)))
      chunks.push(Uint8Array.from(chunk))
    const path = join(folder, `${number}.mp4`)
    await writeFile(path, Buffer.concat(chunks))
    segments.push(await readReferencePackets(path))
  }
  return segments
}

/** First and last moment of a segment's pictures, in whole seconds; none where it has no picture. */
function shown(packets: readonly ReferencePacket[]): number[] {
  const frames = packets.filter(({ kind }) => kind === 'video')
  const last = frames.at(-1)
  if (frames[0] === undefined || last === undefined) return []
  return [frames[0].ptsSeconds, last.ptsSeconds + last.durationSeconds].map(Math.round)
}

describe('pictures that end before the sound does', () => {
  it('are held to the end where that is near, and no packet is added', async () => {
    const bytes = audioGoesOn(33)
    const path = join(folder, 'source.mkv')
    await writeFile(path, bytes)
    const source = await readReferencePackets(path)
    const segments = await served(bytes)
    expect(segments.map(shown)).toEqual([
      [0, 6],
      [6, 33],
    ])
    for (const wanted of ['video', 'audio'] as const) {
      const payloads = (packets: readonly ReferencePacket[]) =>
        packets.filter(({ kind }) => kind === wanted).map(({ sha1 }) => sha1)
      expect(payloads(segments.flat())).toEqual(payloads(source))
    }
  })

  it('are held for half a minute, and then the last key frame is shown again', async () => {
    const segments = await served(audioGoesOn(60))
    expect(segments.map(shown)).toEqual([
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

  it('are shown again in every segment that is listed before it is known what comes', async () => {
    const rules = { segmentSeconds: 6, longestSeconds: 12, finishedBytes: 1 }
    const segments = await served(audioGoesOn(33), (splitPoints) =>
      planGrowingSegments(splitPoints, { ...rules, stableSplitPoints: splitPoints.flags.length }),
    )
    expect(segments.map(shown)).toEqual([
      [0, 6],
      [6, 12],
      [12, 18],
      [18, 24],
      [24, 30],
      [30, 33],
    ])
  })
})

describe('lastKeyCut', () => {
  it('finds the key frame before a cut, but none across a break', () => {
    const flags = Uint8Array.of(SPLIT_KEY_FRAME, 0, 0, SPLIT_DISCONTINUITY, 0)
    const splitPoints = { timescale: 1, startTicks: new Float64Array(5), endTicks: 5, flags }
    expect([0, 1, 2, 3, 4].map((splitPoint) => lastKeySplitPoint(splitPoints, splitPoint))).toEqual(
      [0, 0, 0, undefined, undefined],
    )
  })
})

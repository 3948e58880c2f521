// Files with far more samples than their bytes suggest: no segment reads more than a bounded
// number, and a recording without any such segment is refused.
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../test/support/bytes-file.ts'
import { watchCpu } from '../../test/support/cpu-time.ts'
import { avcConfig, flvFile, frameTag, videoConfigTag } from '../../test/support/make/make-flv.ts'
import { fragment, initSegment } from '../../test/support/make/make-fmp4.ts'
import type { FragmentTrackPlan } from '../../test/support/make/make-fmp4.ts'
import { AAC_TRACK, clusters, H264_TRACK, mkvFile } from '../../test/support/make/make-mkv.ts'
import { AAC_LC, AVC_C, avc1, ftyp, moov, mp4a } from '../../test/support/make/make-mp4.ts'
import type { TrackPlan } from '../../test/support/make/make-mp4.ts'
import { planSegments } from '../stream/hls/playlist/segment-plan.ts'
import { audioRun } from './matroska/segment/segment-runs.ts'
import { createMediaReaders } from './readers.ts'
import { MAX_SEGMENT_SAMPLES, MAX_SPLIT_POINT_SAMPLES } from './timeline/segment-limits.ts'

const { signal } = new AbortController()
const readers = createMediaReaders()
const VIDEO: FragmentTrackPlan = {
  kind: 'video',
  id: 1,
  timescale: 1000,
  sampleEntries: [avc1(AVC_C)],
}

async function openIndex(bytes: Buffer, sizeBytes?: number) {
  const file = bytesFile(bytes, sizeBytes)
  const reader = await readers.forFile(file)
  return { file, reader, index: await reader.index(file, signal) }
}

/** Samples that each planned segment reads; undefined for a gap. */
async function segmentSamples(bytes: Buffer, sizeBytes?: number): Promise<(number | undefined)[]> {
  const { file, reader, index } = await openIndex(bytes, sizeBytes)
  const counts: (number | undefined)[] = []
  for (const { from, to, isGap } of planSegments(index.splitPoints, { segmentSeconds: 6 })
    .segments) {
    const content = isGap === true ? undefined : await reader.readSegment(file, index, { from, to })
    const runs = content?.kind === 'samples' ? content.runs : []
    counts.push(content && runs.reduce((sum, { sizes }) => sum + sizes.length, 0))
  }
  return counts
}

/** An MP4 with all samples of a track in one chunk; its media bytes are zeros. */
function mp4(...tracks: (Partial<TrackPlan> & { count: number })[]): [Buffer, number] {
  const plans = tracks.map(({ count, ...more }): TrackPlan => ({
    kind: 'video',
    timescale: 1000,
    sampleEntries: [more.kind === 'audio' ? mp4a(AAC_LC) : avc1(AVC_C)],
    durations: [[count, 1]],
    sizes: new Uint32Array(count).fill(1),
    chunkRuns: [[1, count, 1]],
    chunkOffsets: [32],
    ...more,
  }))
  const bytes = Buffer.concat([ftyp(), moov(plans)])
  return [bytes, bytes.length + 2_000_000]
}

const REFUSED = {
  code: 'unplayable',
  reason: {
    code: 'limit-exceeded',
    limit: 'samples-between-key-frames',
    max: MAX_SPLIT_POINT_SAMPLES,
  },
}

describe('a recording with a very long GOP', () => {
  it('of MP4 is split, so that no segment has more samples than the limit', async () => {
    const counts = await segmentSamples(...mp4({ count: 330_000, syncs: [1] }))
    expect(counts).toHaveLength(4)
    expect(Math.max(...counts.map((count) => count ?? 0))).toBeLessThanOrEqual(MAX_SEGMENT_SAMPLES)
    expect(counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)).toBe(330_000)
  })

  it('of fragmented MP4 is split', async () => {
    const fragments = Array.from({ length: 3 }, (_, at) => {
      const sample = { data: Buffer.of(1), duration: 1 }
      const isKey = (number: number) => at === 0 && number === 0
      const samples = Array.from({ length: 60_000 }, (__, i) => ({ ...sample, isKey: isKey(i) }))
      return fragment([{ trackId: 1, samples, decodeTicks: at * 60_000 }])
    })
    const counts = await segmentSamples(Buffer.concat([initSegment([VIDEO]), ...fragments]))
    expect(Math.max(...counts.map((count) => count ?? 0))).toBeLessThanOrEqual(MAX_SEGMENT_SAMPLES)
    expect(counts).toHaveLength(2)
  })
})

describe('a recording with too many samples at one time', () => {
  it('is refused as MP4', async () => {
    const [bytes, sizeBytes] = mp4({ count: 300_000, durations: [[300_000, 0]] })
    await expect(openIndex(bytes, sizeBytes)).rejects.toMatchObject(REFUSED)
  })

  it('is refused as fragmented MP4', async () => {
    const sample = { data: Buffer.of(1), duration: 0, isKey: true }
    const samples = Array.from({ length: 60_000 }, () => sample)
    const fragments = Array.from({ length: 5 }, () =>
      fragment([{ trackId: 1, samples, decodeTicks: 0 }]),
    )
    const bytes = Buffer.concat([initSegment([VIDEO]), ...fragments])
    await expect(openIndex(bytes)).rejects.toMatchObject(REFUSED)
  })

  it('is refused as FLV', async () => {
    const config = videoConfigTag({ codec: 7 }, 0, avcConfig())
    const frame = frameTag({ codec: 7 }, { timeMs: 0, data: Buffer.of(1), isKey: true })
    const frames = Array.from({ length: 260_000 }, () => frame)
    await expect(openIndex(flvFile([config, ...frames]))).rejects.toMatchObject(REFUSED)
  })

  it('is refused as Matroska with laced audio', async () => {
    const frames = Array.from({ length: 250 }, () => Buffer.of(1))
    const lace = { track: 2, time: 0, frames, lacing: 'fixed' } as const
    const laces = Array.from({ length: 1100 }, () => lace)
    const bytes = mkvFile([H264_TRACK, AAC_TRACK], clusters(laces))
    await expect(openIndex(bytes)).rejects.toMatchObject(REFUSED)
  })

  it('plays the rest of the recording, and lists a gap', async () => {
    const [bytes, sizeBytes] = mp4(
      { count: 4000, syncs: [1, 1001, 2001, 3001] },
      {
        kind: 'audio',
        count: 300_000,
        durations: [
          [1000, 1],
          [298_000, 0],
          [1000, 2],
        ],
      },
    )
    const { index } = await openIndex(bytes, sizeBytes)
    expect(index.limitations).toMatchObject([{ code: 'samples-unreadable', seconds: 1 }])
    const gaps = planSegments(index.splitPoints, { segmentSeconds: 0.5 }).segments.map(
      ({ isGap }) => isGap ?? false,
    )
    expect(gaps).toEqual([false, true, false, false])
  })
})

describe('audio packets without times', () => {
  it('are timed in one pass', () => {
    const cpuMs = watchCpu()
    const samples = Array.from({ length: 200_000 }, (_, at) => ({
      offset: at,
      sizeBytes: 1,
      startTicks: at === 0 ? 0 : NaN,
      lengthTicks: NaN,
    }))
    const stream = { timescale: 48_000 } as Parameters<typeof audioRun>[0]
    const run = audioRun(stream, samples, 400_000)
    expect(run?.durations.every((ticks) => ticks === 2)).toBe(true)
    expect(cpuMs()).toBeLessThan(5000)
  })
})

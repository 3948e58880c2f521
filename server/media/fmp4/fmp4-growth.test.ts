// Growing fragmented MP4 in random layouts: whatever is written and read when, stable split points
// stay.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { checkGrowth, indexPrefix, samplesOf } from '../../../test/support/verify/grow-recording.ts'
import {
  type FragmentTrackPlan,
  AAC_TRACK,
  H264_TRACK,
  fragment,
  initSegment,
  plainSamples,
} from '../../../test/support/make/make-fmp4.ts'
import { AVC_C, avc1, box } from '../../../test/support/make/make-mp4.ts'
import { SPLIT_DISCONTINUITY } from '../media-index.ts'
import { createFragmentedMp4Reader } from './fmp4-reader.ts'

const reader = createFragmentedMp4Reader()

const OTHER: FragmentTrackPlan = { ...H264_TRACK, sampleEntries: [avc1(AVC_C, 640, 360)] }

/** A step of a writer. Times are quarters of a second. */
type Step =
  | { kind: 'video' | 'audio' | 'both'; quarters: number; keyEvery: number; firstIsKey: boolean }
  | { kind: 'jump'; quarters: number }
  | { kind: 'movie'; which: 'same' | 'other' }
  | { kind: 'noise'; sizeBytes: number }

const media = fc.record({
  kind: fc.constantFrom('video' as const, 'audio' as const, 'both' as const, 'both' as const),
  quarters: fc.integer({ min: 1, max: 24 }),
  keyEvery: fc.constantFrom(4, 8, 40, 1000),
  firstIsKey: fc.boolean(),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: media },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('jump' as const),
      quarters: fc.constantFrom(-400, -40, -3, 5, 60, 4000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('movie' as const),
      which: fc.constantFrom('same' as const, 'other' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('noise' as const),
      sizeBytes: fc.integer({ min: 1, max: 500 }),
    }),
  },
)

/**
 * The bytes that the steps write: eight frames and eight audio packets per second, with a clock for
 * each track.
 */
function write(steps: readonly Step[]): Buffer {
  const chunks = [initSegment([H264_TRACK, AAC_TRACK])]
  let [video, audio] = [4000, 4000]
  for (const each of steps) {
    if (each.kind === 'jump') {
      video = Math.max(video + each.quarters, 0)
      audio = Math.max(audio + each.quarters, 0)
    } else if (each.kind === 'movie') {
      chunks.push(initSegment([each.which === 'same' ? H264_TRACK : OTHER, AAC_TRACK]))
    } else if (each.kind === 'noise') {
      chunks.push(box('free', Buffer.alloc(each.sizeBytes)))
    } else {
      const count = each.quarters * 2
      const frames = plainSamples(count, {
        duration: 11_250,
        keyEvery: each.keyEvery,
        seed: 'v',
      }).map((sample, at) => (at === 0 ? { ...sample, isKey: each.firstIsKey } : sample))
      const audioTracks = plainSamples(count, { duration: 6000, keyEvery: 1, seed: 'a' })
      const trafs = [
        ...(each.kind === 'audio'
          ? []
          : [{ trackId: 1, samples: frames, decodeTicks: video * 22_500 }]),
        ...(each.kind === 'video'
          ? []
          : [{ trackId: 2, samples: audioTracks, decodeTicks: audio * 12_000 }]),
      ]
      chunks.push(fragment(trafs))
      if (each.kind !== 'audio') video += each.quarters
      if (each.kind !== 'video') audio += each.quarters
    }
  }
  return Buffer.concat(chunks)
}

/** Offsets of all samples in the first segments, up to a number of split points. */
async function servedOffsets(bytes: Buffer, splitPointsPerSegment: number): Promise<number[]> {
  const index = await indexPrefix({ reader, bytes }, bytes.length)
  const { startTicks, flags } = index.splitPoints
  const offsets: number[] = []
  for (let from = 0; from < startTicks.length;) {
    let to = from + 1
    while (
      to < startTicks.length &&
      to < from + splitPointsPerSegment &&
      ((flags[to] ?? 0) & SPLIT_DISCONTINUITY) === 0
    )
      to += 1
    const content = await reader.readSegment(bytesFile(bytes), index, { from, to })
    for (const kind of ['video', 'audio'] as const) {
      offsets.push(...samplesOf(content, kind).map(({ offset }) => offset))
    }
    from = to
  }
  return offsets.toSorted((a, b) => a - b)
}

const plan = fc.record({
  steps: fc.array(step, { minLength: 2, maxLength: 25 }),
  fractions: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 12 }),
})

describe('any fragmented recording', () => {
  it('does not change what is stable while it grows', async () => {
    let promised = 0
    await fc.assert(
      fc.asyncProperty(plan, async ({ steps, fractions }) => {
        const bytes = write(steps)
        const sizes = fractions.map((fraction) => Math.floor(fraction * bytes.length))
        const recording = { reader, bytes }
        const isPlayed = await indexPrefix(recording, bytes.length).then(
          () => true,
          () => false,
        )
        if (!isPlayed) return
        const indexes = await checkGrowth(
          recording,
          sizes.toSorted((a, b) => a - b),
        )
        promised += indexes.at(-1)?.growth?.stableSplitPoints ?? 0
      }),
      { numRuns: 250, seed: 3 },
    )
    expect(promised).toBeGreaterThan(1000)
  })

  it('serves each sample once, whatever split points form a segment', async () => {
    let samples = 0
    await fc.assert(
      fc.asyncProperty(
        plan,
        fc.integer({ min: 2, max: 9 }),
        async ({ steps }, splitPointsPerSegment) => {
          const bytes = write(steps)
          const one = await servedOffsets(bytes, 1).catch(() => [])
          const several = await servedOffsets(bytes, splitPointsPerSegment).catch(() => [])
          expect(several).toEqual(one)
          expect(new Set(one).size).toBe(one.length)
          samples += one.length
        },
      ),
      { numRuns: 200, seed: 5 },
    )
    expect(samples).toBeGreaterThan(10_000)
  })
})

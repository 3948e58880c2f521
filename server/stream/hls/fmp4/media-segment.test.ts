import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readFragment } from '../../../../test/support/verify/read-fragment.ts'
import type { ReadFragment } from '../../../../test/support/verify/read-fragment.ts'
import type { Part, SampleRun } from '../../../media/media-reader.ts'
import { TRACK_IDS } from './init-segment.ts'
import { formatMediaSegment } from './media-segment.ts'

/** A recording with bytes that differ everywhere, so that a wrong position is noticed. */
const recording = Buffer.concat(
  Array.from({ length: 20_000 }, (_, i) => createHash('sha256').update(String(i)).digest()),
)
const OWN_BYTES = Buffer.from('computed bytes, such as silence: not in the recording')

function read(parts: readonly Part[]): ReadFragment {
  return readFragment(
    Buffer.concat(
      parts.map((part) =>
        part.kind === 'bytes'
          ? part.bytes
          : recording.subarray(part.offset, part.offset + part.length),
      ),
    ),
  )
}

function ranges(parts: readonly Part[]): [from: number, to: number][] {
  return parts.flatMap((part) =>
    part.kind === 'range' ? [[part.offset, part.offset + part.length]] : [],
  )
}

type Sample = readonly [offset: number, sizeBytes: number]

/** Samples of 100 ticks; the numbered ones of a video are key frames. */
function run(kind: SampleRun['kind'], samples: readonly Sample[], keys = [0]): SampleRun {
  return {
    kind,
    timescale: 1000,
    firstDecodeTicks: 0,
    sizes: Uint32Array.from(samples, ([, sizeBytes]) => sizeBytes),
    offsets: Float64Array.from(samples, ([offset]) => offset),
    durations: new Uint32Array(samples.length).fill(100),
    ...(kind === 'video' && {
      syncs: Uint8Array.from(samples, (_, at) => (keys.includes(at) ? 1 : 0)),
    }),
  }
}

function ownRun(kind: SampleRun['kind']): SampleRun {
  const sizes = Uint32Array.of(20, OWN_BYTES.length - 20)
  const durations = new Uint32Array(2).fill(100)
  const syncs = kind === 'video' && { syncs: Uint8Array.of(1, 0) }
  return {
    kind,
    timescale: 1000,
    firstDecodeTicks: 0,
    sizes,
    bytes: OWN_BYTES,
    durations,
    ...syncs,
  }
}

/** Video samples of 4000 bytes and audio samples of 400, with a gap before each. */
function interleave(count: number, gap: number): { video: Sample[]; audio: Sample[]; end: number } {
  const video: Sample[] = []
  const audio: Sample[] = []
  let end = 0
  for (let i = 0; i < count; i += 1) {
    video.push([end + gap, 4000])
    audio.push([end + 2 * gap + 4000, 400])
    end += 2 * gap + 4400
  }
  return { video, audio, end }
}

/** The bytes of each sample of the runs, in order. */
function expectedSamples(runs: readonly SampleRun[]): string[] {
  return runs.flatMap(({ sizes, offsets, bytes }) => {
    let at = 0
    return Array.from(sizes, (size, i) => {
      const from = bytes === undefined ? (offsets?.[i] ?? NaN) : at
      at += size
      return (bytes ?? recording).subarray(from, from + size).toString('hex')
    })
  })
}

function readSamples({ samples }: ReadFragment): string[] {
  return samples.map(({ bytes }) => bytes.toString('hex'))
}

/** Truns of one track whose data is not in decode order: players skip or reject those. */
function backwardSteps({ samples }: ReadFragment): number {
  const ends = new Map<number, number>()
  return samples.filter(({ trackId, position, bytes }) => {
    const end = ends.get(trackId) ?? 0
    ends.set(trackId, position + bytes.length)
    return position < end
  }).length
}

describe('formatMediaSegment', () => {
  it('sends interleaved tracks as one range, with a trun at each change of track', () => {
    const { video, audio, end } = interleave(40, 0)
    const runs = [run('video', video), run('audio', audio)]
    const parts = formatMediaSegment(runs, 1)
    expect(ranges(parts)).toEqual([[0, end]])
    const fragment = read(parts)
    expect(fragment.truns).toBe(80)
    expect(readSamples(fragment)).toEqual(expectedSamples(runs))
    expect(fragment.samples.map(({ decodeTicks }) => decodeTicks)).toEqual(
      [...video.keys(), ...audio.keys()].map((at) => at * 100),
    )
  })

  it('sends small gaps, which no sample includes', () => {
    const { video, audio, end } = interleave(40, 11)
    const runs = [run('video', video), run('audio', audio)]
    const parts = formatMediaSegment(runs, 1)
    expect(ranges(parts)).toEqual([[11, end]])
    const fragment = read(parts)
    expect(readSamples(fragment)).toEqual(expectedSamples(runs))
    expect(fragment.dataBytes).toBe(40 * 4400 + 79 * 11)
  })

  it('omits gaps as large as the headers of a cluster and its first block', () => {
    const samples: Sample[] = [
      [0, 20_000],
      [20_020, 20_000],
      [40_041, 20_000],
    ]
    const parts = formatMediaSegment([run('video', samples)], 1)
    expect(ranges(parts)).toEqual([
      [0, 40_020],
      [40_041, 60_041],
    ])
    // The third directly follows the second.
    expect(read(parts).truns).toBe(2)
  })

  it('sends track after track, without gaps, if truns would cost more than 2 %', () => {
    const { video, audio } = interleave(40, 0)
    const short = audio.map(([offset], at): Sample => [offset - at * 3500, 400])
    const frames = video.map(([offset], at): Sample => [offset - at * 3500, 500])
    const runs = [run('video', frames, [0, 20]), run('audio', short)]
    const parts = formatMediaSegment(runs, 1)
    const fragment = read(parts)
    expect(fragment.truns).toBe(3)
    expect(fragment.dataBytes).toBe(40 * 900)
    expect(ranges(parts).slice(0, 2)).toEqual([frames[0], frames[1]].map(placeRange))
    expect(readSamples(fragment)).toEqual(expectedSamples(runs))
  })

  it('costs at most 2 % more than track after track', () => {
    const sizes = fc.array(fc.tuple(fc.nat(3000), fc.nat(300), fc.nat(80)), { minLength: 1 })
    fc.assert(
      fc.property(sizes, (groups) => {
        let end = 0
        const place = (sizeBytes: number): Sample => [(end += sizeBytes) - sizeBytes, sizeBytes]
        const pairs = groups.map(([frame, audioTrack, gap]) => {
          end += gap
          return { frame: place(frame), audio: place(audioTrack) }
        })
        const runs = [
          run(
            'video',
            pairs.map(({ frame }) => frame),
          ),
          run(
            'audio',
            pairs.map(({ audio: audioTrack }) => audioTrack),
          ),
        ]
        const { moofBytes, dataBytes, samples } = read(formatMediaSegment(runs, 1))
        // mfhd; tfhd, tfdt and one trun for each track; sizes.
        const headBytes = 24 + (8 + 24 + 20 + 24) + (8 + 24 + 20 + 20) + samples.length * 4
        const sampleBytes = samples.reduce((sum, { bytes }) => sum + bytes.length, 0)
        expect(moofBytes + dataBytes).toBeLessThanOrEqual((headBytes + sampleBytes + 8) * 1.02)
      }),
    )
  })

  it('starts a trun at each key frame, and only there', () => {
    const recorded = Array.from({ length: 9 }, (_, at): Sample => [at * 1000, 1000])
    const { samples, truns } = read(formatMediaSegment([run('video', recorded, [0, 3, 4])], 1))
    expect(truns).toBe(3)
    expect(samples.flatMap(({ isKey }, at) => (isKey ? [at] : []))).toEqual([0, 3, 4])
  })

  it('sends computed samples before recorded ones', () => {
    const { video, end } = interleave(10, 0)
    const runs = [run('video', video), ownRun('audio')]
    const parts = formatMediaSegment(runs, 1)
    expect(parts.map(({ kind }) => kind).slice(0, 2)).toEqual(['bytes', 'bytes'])
    expect(parts[1]).toEqual({ kind: 'bytes', bytes: OWN_BYTES })
    expect(ranges(parts).at(-1)?.[1]).toBe(end - 400)
    expect(readSamples(read(parts))).toEqual(expectedSamples(runs))
  })

  it('sends silence after the audio before it', () => {
    const { video, audio } = interleave(40, 0)
    const runs = [run('video', video), run('audio', audio.slice(0, 10)), ownRun('audio')]
    const fragment = read(formatMediaSegment(runs, 1))
    expect(readSamples(fragment)).toEqual(expectedSamples(runs))
    expect(backwardSteps(fragment)).toBe(0)
  })

  it('repeats a key frame from before its track', () => {
    const { video, audio } = interleave(40, 0)
    const [first = [0, 0]] = video
    const runs = [run('video', video), run('video', [first]), run('audio', audio)]
    const fragment = read(formatMediaSegment(runs, 1))
    expect(readSamples(fragment)).toEqual(expectedSamples(runs))
    expect(backwardSteps(fragment)).toBe(0)
    expect(fragment.samples.filter(({ trackId }) => trackId === TRACK_IDS.video)).toHaveLength(41)
  })

  it('sends no bytes for empty samples, whatever their position', () => {
    const { video, audio, end } = interleave(40, 0)
    const sparse = [[600_000, 0], ...video.slice(0, 20), [7, 0], ...video.slice(20)] as const
    const runs = [run('video', sparse, [1]), run('audio', audio)]
    const parts = formatMediaSegment(runs, 1)
    expect(ranges(parts)).toEqual([[0, end]])
    const fragment = read(parts)
    // One more: the key frame is not the first sample.
    expect(fragment.truns).toBe(81)
    expect(readSamples(fragment)).toEqual(expectedSamples(runs))
  })

  it('sends each sample its own bytes: apart, overlapping, repeated, backwards, empty', () => {
    const sizeBytes = fc.oneof(fc.constant(0), fc.nat(300), fc.integer({ min: 3000, max: 9000 }))
    const samples = fc.array(fc.tuple(fc.nat(600_000), sizeBytes), { minLength: 1 })
    const near = fc.array(fc.tuple(fc.nat(500), sizeBytes), { minLength: 1 })
    const runs = fc.array(
      fc.oneof(
        fc
          .tuple(fc.constantFrom('video', 'audio'), fc.oneof(samples, near))
          .map(([kind, where]) => run(kind, where)),
        fc.constantFrom('video', 'audio').map(ownRun),
      ),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(runs, (some) => {
        const fragment = read(formatMediaSegment(some, 1))
        expect(readSamples(fragment)).toEqual(expectedSamples(some))
        expect(backwardSteps(fragment)).toBe(0)
      }),
      { numRuns: 300 },
    )
  })

  it('runs in linear time, whatever the order of samples', () => {
    const count = 200_000
    const backwards = Array.from({ length: count }, (_, at): Sample => [(count - at) * 3, 2])
    const scattered = backwards.map((_, at): Sample => [(at * 7919) % (count * 3), 2])
    const parts = formatMediaSegment([run('video', backwards), run('audio', scattered)], 1)
    const samples = parts.reduce((sum, part) => sum + (part.kind === 'range' ? part.length : 0), 0)
    expect(samples).toBe(2 * 2 * count)
  })

  it('rejects a segment of more than 2 GiB', () => {
    const huge = run(
      'video',
      Array.from({ length: 3 }, (_, at): Sample => [at * 1e9, 1e9]),
    )
    expect(() => formatMediaSegment([huge], 1)).toThrow(
      expect.objectContaining({
        reason: expect.objectContaining({ limit: 'bytes-between-key-frames' }),
      }),
    )
  })
})

function placeRange(place: Sample | undefined): [number, number] {
  const [offset = NaN, sizeBytes = NaN] = place ?? []
  return [offset, offset + sizeBytes]
}

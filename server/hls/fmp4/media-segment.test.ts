import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readFragment } from '../../../test/support/read-fragment.ts'
import type { ReadFragment } from '../../../test/support/read-fragment.ts'
import type { Part, SampleRun } from '../../media/media-reader.ts'
import { TRACK_IDS } from './init-segment.ts'
import { formatMediaSegment } from './media-segment.ts'

/** A recording whose bytes differ everywhere, so that a wrong place shows. */
const recording = Buffer.concat(
  Array.from({ length: 20_000 }, (_, i) => createHash('sha256').update(String(i)).digest()),
)
const OWN_BYTES = Buffer.from('sound that was made, or silence: it lies in no recording')

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

type Place = readonly [offset: number, sizeBytes: number]

/** Samples of 100 ticks; of pictures the numbered ones are key frames. */
function run(kind: SampleRun['kind'], places: readonly Place[], keys = [0]): SampleRun {
  return {
    kind,
    timescale: 1000,
    firstDecodeTicks: 0,
    sizes: Uint32Array.from(places, ([, sizeBytes]) => sizeBytes),
    offsets: Float64Array.from(places, ([offset]) => offset),
    durations: new Uint32Array(places.length).fill(100),
    ...(kind === 'video' && {
      syncs: Uint8Array.from(places, (_, at) => (keys.includes(at) ? 1 : 0)),
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

/** Pictures of 4000 bytes and sound of 400, with so many bytes in front of each. */
function interleave(count: number, hole: number): { video: Place[]; audio: Place[]; end: number } {
  const video: Place[] = []
  const audio: Place[] = []
  let end = 0
  for (let i = 0; i < count; i += 1) {
    video.push([end + hole, 4000])
    audio.push([end + 2 * hole + 4000, 400])
    end += 2 * hole + 4400
  }
  return { video, audio, end }
}

/** The bytes of each sample of the runs, in order. */
function wanted(runs: readonly SampleRun[]): string[] {
  return runs.flatMap(({ sizes, offsets, bytes }) => {
    let at = 0
    return Array.from(sizes, (size, i) => {
      const from = bytes === undefined ? (offsets?.[i] ?? NaN) : at
      at += size
      return (bytes ?? recording).subarray(from, from + size).toString('hex')
    })
  })
}

function given({ samples }: ReadFragment): string[] {
  return samples.map(({ bytes }) => bytes.toString('hex'))
}

/** Truns of one track in decode order whose data goes back: players skip or refuse those. */
function backwardSteps({ samples }: ReadFragment): number {
  const ends = new Map<number, number>()
  return samples.filter(({ trackId, position, bytes }) => {
    const end = ends.get(trackId) ?? 0
    ends.set(trackId, position + bytes.length)
    return position < end
  }).length
}

describe('formatMediaSegment', () => {
  it('sends interleaved tracks as one range, with a trun wherever the track changes', () => {
    const { video, audio, end } = interleave(40, 0)
    const runs = [run('video', video), run('audio', audio)]
    const parts = formatMediaSegment(runs, 1)
    expect(ranges(parts)).toEqual([[0, end]])
    const fragment = read(parts)
    expect(fragment.truns).toBe(80)
    expect(given(fragment)).toEqual(wanted(runs))
    expect(fragment.samples.map(({ decodeTicks }) => decodeTicks)).toEqual(
      [...video.keys(), ...audio.keys()].map((at) => at * 100),
    )
  })

  it('sends small holes, and no sample has bytes of them', () => {
    const { video, audio, end } = interleave(40, 11)
    const runs = [run('video', video), run('audio', audio)]
    const parts = formatMediaSegment(runs, 1)
    expect(ranges(parts)).toEqual([[11, end]])
    const fragment = read(parts)
    expect(given(fragment)).toEqual(wanted(runs))
    expect(fragment.dataBytes).toBe(40 * 4400 + 79 * 11)
  })

  it('leaves out holes as large as the head of a cluster and its first block', () => {
    const places: Place[] = [
      [0, 20_000],
      [20_020, 20_000],
      [40_041, 20_000],
    ]
    const parts = formatMediaSegment([run('video', places)], 1)
    expect(ranges(parts)).toEqual([
      [0, 40_020],
      [40_041, 60_041],
    ])
    // The third stands right behind the second.
    expect(read(parts).truns).toBe(2)
  })

  it('keeps track after track, without holes, where truns cost more than 2 %', () => {
    const { video, audio } = interleave(40, 0)
    const short = audio.map(([offset], at): Place => [offset - at * 3500, 400])
    const frames = video.map(([offset], at): Place => [offset - at * 3500, 500])
    const runs = [run('video', frames, [0, 20]), run('audio', short)]
    const parts = formatMediaSegment(runs, 1)
    const fragment = read(parts)
    expect(fragment.truns).toBe(3)
    expect(fragment.dataBytes).toBe(40 * 900)
    expect(ranges(parts).slice(0, 2)).toEqual([frames[0], frames[1]].map(placeRange))
    expect(given(fragment)).toEqual(wanted(runs))
  })

  it('costs at most 2 % more than track after track', () => {
    const sizes = fc.array(fc.tuple(fc.nat(3000), fc.nat(300), fc.nat(80)), { minLength: 1 })
    fc.assert(
      fc.property(sizes, (groups) => {
        let end = 0
        const place = (sizeBytes: number): Place => [(end += sizeBytes) - sizeBytes, sizeBytes]
        const places = groups.map(([frame, audioTrack, hole]) => {
          end += hole
          return { frame: place(frame), audio: place(audioTrack) }
        })
        const runs = [
          run(
            'video',
            places.map(({ frame }) => frame),
          ),
          run(
            'audio',
            places.map(({ audio: audioTrack }) => audioTrack),
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

  it('begins a trun at every key frame, and only there has one', () => {
    const places = Array.from({ length: 9 }, (_, at): Place => [at * 1000, 1000])
    const { samples, truns } = read(formatMediaSegment([run('video', places, [0, 3, 4])], 1))
    expect(truns).toBe(3)
    expect(samples.flatMap(({ isKey }, at) => (isKey ? [at] : []))).toEqual([0, 3, 4])
  })

  it('puts what was made in front of what was recorded', () => {
    const { video, end } = interleave(10, 0)
    const runs = [run('video', video), ownRun('audio')]
    const parts = formatMediaSegment(runs, 1)
    expect(parts.map(({ kind }) => kind).slice(0, 2)).toEqual(['bytes', 'bytes'])
    expect(parts[1]).toEqual({ kind: 'bytes', bytes: OWN_BYTES })
    expect(ranges(parts).at(-1)?.[1]).toBe(end - 400)
    expect(given(read(parts))).toEqual(wanted(runs))
  })

  it('keeps silence that is heard later behind the sound before it', () => {
    const { video, audio } = interleave(40, 0)
    const runs = [run('video', video), run('audio', audio.slice(0, 10)), ownRun('audio')]
    const fragment = read(formatMediaSegment(runs, 1))
    expect(given(fragment)).toEqual(wanted(runs))
    expect(backwardSteps(fragment)).toBe(0)
  })

  it('shows a picture again that lies in front of its track', () => {
    const { video, audio } = interleave(40, 0)
    const [first = [0, 0]] = video
    const runs = [run('video', video), run('video', [first]), run('audio', audio)]
    const fragment = read(formatMediaSegment(runs, 1))
    expect(given(fragment)).toEqual(wanted(runs))
    expect(backwardSteps(fragment)).toBe(0)
    expect(fragment.samples.filter(({ trackId }) => trackId === TRACK_IDS.video)).toHaveLength(41)
  })

  it('sends as much for empty samples, wherever they are said to lie, as for none', () => {
    const { video, audio, end } = interleave(40, 0)
    const sparse = [[600_000, 0], ...video.slice(0, 20), [7, 0], ...video.slice(20)] as const
    const runs = [run('video', sparse, [1]), run('audio', audio)]
    const parts = formatMediaSegment(runs, 1)
    expect(ranges(parts)).toEqual([[0, end]])
    const fragment = read(parts)
    // One more: the key frame is not the first.
    expect(fragment.truns).toBe(81)
    expect(given(fragment)).toEqual(wanted(runs))
  })

  it('gives every sample its bytes wherever samples lie: apart, on each other, repeated, backwards, empty', () => {
    const sizeBytes = fc.oneof(fc.constant(0), fc.nat(300), fc.integer({ min: 3000, max: 9000 }))
    const places = fc.array(fc.tuple(fc.nat(600_000), sizeBytes), { minLength: 1 })
    const near = fc.array(fc.tuple(fc.nat(500), sizeBytes), { minLength: 1 })
    const runs = fc.array(
      fc.oneof(
        fc
          .tuple(fc.constantFrom('video', 'audio'), fc.oneof(places, near))
          .map(([kind, where]) => run(kind, where)),
        fc.constantFrom('video', 'audio').map(ownRun),
      ),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(runs, (some) => {
        const fragment = read(formatMediaSegment(some, 1))
        expect(given(fragment)).toEqual(wanted(some))
        expect(backwardSteps(fragment)).toBe(0)
      }),
      { numRuns: 300 },
    )
  })

  it('takes as long as there are samples, in whatever order they lie', () => {
    const count = 200_000
    const backwards = Array.from({ length: count }, (_, at): Place => [(count - at) * 3, 2])
    const scattered = backwards.map((_, at): Place => [(at * 7919) % (count * 3), 2])
    const parts = formatMediaSegment([run('video', backwards), run('audio', scattered)], 1)
    const samples = parts.reduce((sum, part) => sum + (part.kind === 'range' ? part.length : 0), 0)
    expect(samples).toBe(2 * 2 * count)
  })

  it('refuses a segment of more than 2 GiB', () => {
    const huge = run(
      'video',
      Array.from({ length: 3 }, (_, at): Place => [at * 1e9, 1e9]),
    )
    expect(() => formatMediaSegment([huge], 1)).toThrow(
      expect.objectContaining({
        reason: expect.objectContaining({ limit: 'bytes-between-key-frames' }),
      }),
    )
  })
})

function placeRange(place: Place | undefined): [number, number] {
  const [offset = NaN, sizeBytes = NaN] = place ?? []
  return [offset, offset + sizeBytes]
}

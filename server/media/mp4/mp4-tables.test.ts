// The MP4 reader compared with a naive walk over whole tables: files with random tables, and
// special layouts.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import {
  type TrackPlan,
  AAC_LC,
  AVC_C,
  avc1,
  box,
  esds,
  ftyp,
  moov,
  mp4a,
  plainTrack,
} from '../../../test/support/make/make-mp4.ts'
import { listSamples, rangesOf, readRuns } from '../../../test/support/verify/served-samples.ts'
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME, durationSeconds } from '../media-index.ts'
import type { SampleRun } from '../media-reader.ts'
import { createMp4Reader } from './mp4-reader.ts'

const reader = createMp4Reader()
const { signal } = new AbortController()

const MEDIA_BYTES = 1_000_000

/** A file of these tracks; the media bytes, at its end, are zeros. */
function makeFile(tracks: TrackPlan[], ...more: Uint8Array[]) {
  const head = Buffer.concat([ftyp(), moov(tracks, ...more)])
  return bytesFile(head, head.length + MEDIA_BYTES)
}

async function readAll(file: ReturnType<typeof bytesFile>, splitPointsPerSegment = 1) {
  const index = await reader.index(file, signal)
  const segments = await readRuns(reader, { file, index }, rangesOf(index, splitPointsPerSegment))
  const runs = (kind: SampleRun['kind']) =>
    segments.flatMap((segment) => segment.runs.filter((run) => run.kind === kind))
  return { index, video: runs('video'), audio: runs('audio') }
}

interface NaiveSample {
  size: number
  offset: number
  decodeTicks: number
  presentationTicks: number
  isKey: boolean
}

/** All samples of a track, by reading each table from its start. */
function naiveWalk(plan: TrackPlan): NaiveSample[] {
  const durations = plan.durations.flatMap(([count, ticks]) => Array<number>(count).fill(ticks))
  const offsets = (plan.compositionOffsets ?? []).flatMap(([count, ticks]) =>
    Array<number>(count).fill(ticks),
  )
  const keys = plan.syncs && new Set(Array.from(plan.syncs))
  const samples: NaiveSample[] = []
  let decodeTicks = 0
  for (let chunk = 1; chunk <= plan.chunkOffsets.length; chunk += 1) {
    const perChunk = plan.chunkRuns.findLast(([first]) => first <= chunk)?.[1] ?? 0
    let offset = plan.chunkOffsets[chunk - 1] ?? NaN
    for (let inChunk = 0; inChunk < perChunk; inChunk += 1) {
      const at = samples.length
      const size = plan.sizes[at]
      const ticks = durations[at]
      if (size === undefined || ticks === undefined) return samples
      const presentationTicks = decodeTicks + (offsets[at] ?? 0)
      samples.push({
        size,
        offset,
        decodeTicks,
        presentationTicks,
        isKey: keys?.has(at + 1) ?? true,
      })
      offset += size
      decodeTicks += ticks
    }
  }
  return samples
}

function flatten(runs: SampleRun[]): NaiveSample[] {
  return runs
    .flatMap(listSamples)
    .map(({ sizeBytes: size, offset, decodeTicks, presentationTicks, isKey }) => {
      return { size, offset, decodeTicks, presentationTicks, isKey }
    })
}

const runsOf = (count: number, value: fc.Arbitrary<number>) =>
  fc
    .array(fc.tuple(fc.nat(40), value), { minLength: 1, maxLength: 40 })
    .map((runs): [number, number][] => [...runs, [count, 40]])

/** As many chunks as the samples need: other tables are corrupt, and repaired if possible. */
function withNeededChunks<P extends TrackPlan>(plan: P): P {
  let capacity = 0
  let chunks = 0
  while (capacity < plan.sizes.length) {
    chunks += 1
    const run = plan.chunkRuns.findLast(([first]) => first <= chunks)
    capacity += run?.[1] ?? NaN
  }
  return {
    ...plan,
    chunkOffsets: Array.from(plan.chunkOffsets).slice(0, chunks),
    chunkRuns: plan.chunkRuns.filter(([first]) => first <= chunks),
  }
}

const trackPlans = fc.integer({ min: 1, max: 300 }).chain((count) =>
  fc
    .record({
      kind: fc.constant('video' as const),
      timescale: fc.constantFrom(8000, 15_360, 90_000),
      sampleEntries: fc.constant<Uint8Array[]>([avc1(AVC_C)]),
      durations: runsOf(count, fc.integer({ min: 1, max: 5000 })),
      compositionOffsets: runsOf(count, fc.integer({ min: -3000, max: 9000 })),
      syncs: fc
        .uniqueArray(fc.integer({ min: 2, max: count + 1 }), { maxLength: 20 })
        .map((numbers) => [1, ...numbers.toSorted((a, b) => a - b)]),
      sizes: fc.array(fc.nat(15), { minLength: count, maxLength: count }),
      sizeForm: fc.constantFrom<0 | 4 | 8 | 16>(0, 4, 8, 16),
      chunkRuns: fc
        .array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 20 })), {
          minLength: 1,
          maxLength: 30,
        })
        .map((steps) => {
          let first = 1
          return steps.map(([chunks, perChunk]): [number, number, number] => {
            const run: [number, number, number] = [first, perChunk, 1]
            first += chunks
            return run
          })
        }),
      // A chunk has at most 300 bytes: none is over the next one, which would be corrupt.
      chunkOffsets: fc.array(
        fc.integer({ min: 60, max: 2800 }).map((place) => place * 320),
        { minLength: count, maxLength: count },
      ),
      chunkForm: fc.constantFrom<'stco' | 'co64'>('stco', 'co64'),
    })
    .map(withNeededChunks),
)

describe('random tables', () => {
  it('gives the same samples as a walk over the whole tables', async () => {
    await fc.assert(
      fc.asyncProperty(
        trackPlans,
        fc.integer({ min: 1, max: 5 }),
        async (plan, splitPointsPerSegment) => {
          const { video, index } = await readAll(makeFile([plan]), splitPointsPerSegment)
          const expected = naiveWalk(plan)
          const served = flatten(video)
          const earliest = Math.min(...expected.map((sample) => sample.presentationTicks))
          const offsets = expected.map((sample) => sample.presentationTicks - sample.decodeTicks)
          const decodeShift = Math.min(0, ...offsets) - earliest
          expect(served).toEqual(
            expected.map((sample, at) => ({
              ...sample,
              decodeTicks: Math.max(sample.decodeTicks + decodeShift, at),
              presentationTicks: sample.presentationTicks - earliest,
            })),
          )
          const starts = [...index.splitPoints.startTicks]
          expect(starts).toEqual([...new Set(starts)].toSorted((a, b) => a - b))
          expect(index.splitPoints.endTicks).toBeGreaterThan(starts.at(-1) ?? NaN)
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('long chunks', () => {
  it('finds samples inside one chunk, for a size table and a constant size', async () => {
    const count = 30_000
    const sizes = Array.from({ length: count }, (_, at) => at % 7)
    const chunk = {
      chunkRuns: [[1, count, 1]] as [number, number, number][],
      chunkOffsets: [20_000],
    }
    for (const plan of [
      plainTrack('audio', count, { ...chunk, sizes }),
      plainTrack('audio', count, { ...chunk, sizeForm: 'constant' }),
    ]) {
      const { audio, index } = await readAll(makeFile([plan]), 7)
      expect(flatten(audio).map((sample) => sample.offset)).toEqual(
        naiveWalk(plan).map((sample) => sample.offset),
      )
      expect(index.splitPoints.startTicks.length).toBe(3000)
    }
  })
})

describe('several sample descriptions', () => {
  it('start a discontinuity with their own init', async () => {
    const other = Buffer.from('014d401effe100046764001f01000468ee3cb0', 'hex')
    const plan = plainTrack('video', 40, {
      sampleEntries: [avc1(AVC_C), avc1(other, 160, 90)],
      chunkRuns: [
        [1, 1, 1],
        [21, 1, 2],
      ],
      syncs: [1, 11, 21, 31],
    })
    const { index } = await readAll(makeFile([plan]))
    expect([...index.splitPoints.flags]).toEqual([
      SPLIT_KEY_FRAME,
      SPLIT_KEY_FRAME,
      SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY,
      SPLIT_KEY_FRAME,
    ])
    const entries = [0, 1, 2, 3].map((splitPoint) =>
      Buffer.from(reader.initTracks(index, splitPoint)?.[0]?.sampleEntry ?? []),
    )
    expect(entries.map((entry) => entry.equals(avc1(AVC_C)))).toEqual([true, true, false, false])
    expect(entries[3]?.equals(avc1(other, 160, 90))).toBe(true)
  })

  it('ends the audio at the change', async () => {
    const plan = plainTrack('audio', 40, {
      sampleEntries: [mp4a(AAC_LC), mp4a(Buffer.from('1210', 'hex'))],
      chunkRuns: [
        [1, 1, 1],
        [21, 1, 2],
      ],
    })
    const { index, audio } = await readAll(makeFile([plan]))
    expect(flatten(audio).length).toBe(20)
    expect(durationSeconds(index)).toBe(2)
  })
})

describe('composition offsets', () => {
  it('put the earliest frame at 0 and the duration after the latest', async () => {
    const plan = plainTrack('video', 6, {
      timescale: 8000,
      compositionOffsets: [
        [1, 500],
        [1, 900],
        [1, -450],
        [1, 100],
      ],
    })
    const { index, video } = await readAll(makeFile([{ ...plan, syncs: [1] }]))
    const presented = flatten(video).map((sample) => sample.presentationTicks)
    expect(presented).toEqual([750, 1250, 0, 650, 650, 750])
    expect(index.splitPoints.endTicks).toBe(1350)
    // Times before the session start are raised to its first ticks.
    expect(flatten(video).map((sample) => sample.decodeTicks)).toEqual([0, 1, 2, 100, 200, 300])
  })
})

describe('edit lists', () => {
  it('delay a track by an empty edit, however coarse its clock', async () => {
    const video = plainTrack('video', 30, {
      timescale: 25,
      durations: [[30, 1]],
      edits: [
        [33, -1],
        [1000, 0],
      ],
    })
    const audio = plainTrack('audio', 30, { edits: [[1000, 20]] })
    const read = await readAll(makeFile([video, audio]))
    const [firstFrame] = flatten(read.video)
    const [firstAudio] = flatten(read.audio)
    const frameSeconds = (firstFrame?.presentationTicks ?? NaN) / (read.video[0]?.timescale ?? 1)
    expect(firstAudio?.presentationTicks).toBe(0)
    expect(frameSeconds).toBeCloseTo(0.053, 3)
  })
})

describe('audio without video', () => {
  it('splits audio that outlasts the video about every second', async () => {
    const video = plainTrack('video', 20, { syncs: [1, 11] })
    const {
      index,
      audio,
      video: frames,
    } = await readAll(makeFile([video, plainTrack('audio', 53)]))
    const seconds = [...index.splitPoints.startTicks].map(
      (ticks) => ticks / index.splitPoints.timescale,
    )
    expect(seconds).toEqual([0, 1, 2, 3, 4])
    expect([...index.splitPoints.flags]).toEqual([SPLIT_KEY_FRAME, SPLIT_KEY_FRAME, 0, 0, 0])
    expect(durationSeconds(index)).toBe(5.3)
    expect(audio.map((run) => run.sizes.length)).toEqual([10, 10, 10, 10, 13])
    expect(frames.length).toBe(2)
  })

  it('splits an audio-only recording about every second', async () => {
    const { index, audio } = await readAll(makeFile([plainTrack('audio', 24)]))
    expect([...index.splitPoints.flags]).toEqual([0, 0])
    expect(audio.map((run) => run.sizes.length)).toEqual([10, 14])
    const file = makeFile([plainTrack('audio', 24)])
    expect(await reader.readKeyFrame(file, index, 0)).toBeUndefined()
  })
})

describe('track selection', () => {
  it('skips disabled and empty video, and prefers audio without transcoding', async () => {
    const tracks = [
      plainTrack('video', 20, { isDisabled: true }),
      plainTrack('video', 0),
      plainTrack('audio', 20, { sampleEntries: [mp4a(AAC_LC, 0x6b)] }),
      plainTrack('audio', 20, { sampleEntries: [box('ac-3', Buffer.alloc(28))] }),
      plainTrack('video', 30),
      plainTrack('audio', 40),
    ]
    const { video, audio, index } = await readAll(makeFile(tracks))
    expect(flatten(video).length).toBe(30)
    expect(flatten(audio).length).toBe(40)
    const formats = index.tracks.map((track) =>
      track.kind === 'audio' ? (track.transcodedFrom?.codec ?? 'as it is') : 'video',
    )
    expect(formats).toEqual(['video', 'as it is', 'mp3'])
  })

  it.each([
    ['mp4v', { code: 'video-codec-unsupported', codec: 'MPEG-4 Visual' }],
    ['apch', { code: 'video-codec-unsupported', codec: 'Apple ProRes' }],
    ['encv', { code: 'video-encrypted' }],
    ['avc1', { code: 'video-config-missing', codec: 'H.264', box: 'avcC' }],
    ['QQQQ', { code: 'video-codec-unsupported', codec: 'QQQQ' }],
  ])('rejects video in a %s sample entry', async (type, reason) => {
    const plan = plainTrack('video', 20, { sampleEntries: [box(type, Buffer.alloc(78))] })
    const file = makeFile([plan, plainTrack('audio', 20)])
    await expect(reader.index(file, signal)).rejects.toMatchObject({ code: 'unplayable', reason })
  })

  it.each([
    [0x20, 'MPEG-4 Visual'],
    [0x61, 'MPEG-2'],
    [0x6a, 'MPEG-1'],
  ])('names the codec of an mp4v entry with object type %i', async (objectType, name) => {
    const entry = box('mp4v', Buffer.alloc(78), esds(Buffer.alloc(4), objectType))
    const file = makeFile([plainTrack('video', 20, { sampleEntries: [entry] })])
    const reason = { code: 'video-codec-unsupported', codec: name }
    await expect(reader.index(file, signal)).rejects.toMatchObject({ code: 'unplayable', reason })
  })

  it('plays the audio of a file with a cover image', async () => {
    const cover = plainTrack('video', 1, { sampleEntries: [box('jpeg', Buffer.alloc(78))] })
    const { index } = await readAll(makeFile([cover, plainTrack('audio', 20)]))
    expect(index.tracks.map((track) => track.kind)).toEqual(['audio'])
  })
})

const AT: unknown = expect.any(Number)

describe('tables that contradict themselves', () => {
  it.each<[string, Partial<TrackPlan>, object]>([
    [
      'a timescale of 0',
      { timescale: 0 },
      { code: 'box-invalid', box: 'mdhd', offsetBytes: AT, defect: 'timescale-zero' },
    ],
    [
      'runs of empty chunks',
      {
        chunkRuns: [
          [1, 0, 1],
          [2, 0, 1],
        ],
      },
      { code: 'box-invalid', box: 'stsc', offsetBytes: AT, defect: 'entry-invalid', value: 0 },
    ],
    [
      'chunk numbers that fall',
      {
        chunkRuns: [
          [1, 1, 1],
          [5, 2, 1],
          [3, 1, 1],
        ],
      },
      { code: 'box-invalid', box: 'stsc', offsetBytes: AT, defect: 'entry-invalid', value: 1 },
    ],
    [
      'durations out of all reason',
      { durations: [[20, 2 ** 31 - 1]] },
      { code: 'timestamps-invalid' },
    ],
  ])('refuses %s', async (_, more, reason) => {
    const file = makeFile([plainTrack('video', 20, more)])
    await expect(reader.index(file, signal)).rejects.toMatchObject({ code: 'unplayable', reason })
  })

  it('refuses a count that exceeds its box, without allocating for it', async () => {
    const bytes = Buffer.concat([ftyp(), moov([plainTrack('video', 20)])])
    bytes.writeUInt32BE(0x7f_ff_ff_ff, bytes.indexOf('stsz') + 12)
    const file = bytesFile(bytes, bytes.length + MEDIA_BYTES)
    await expect(reader.index(file, signal)).rejects.toMatchObject({
      reason: {
        code: 'box-invalid',
        box: 'stsz',
        offsetBytes: bytes.indexOf('stsz') - 4,
        defect: 'entries-exceed-box',
        value: 0x7f_ff_ff_ff,
      },
    })
  })
})

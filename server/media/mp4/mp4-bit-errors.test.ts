// MP4 tables with single wrong entries: they cost the segments concerned, and no other one.
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import {
  type TrackPlan,
  AAC_LC,
  AVC_C,
  avc1,
  ftyp,
  moov,
  mp4a,
  plainTrack,
} from '../../../test/support/make/make-mp4.ts'
import { fixturePath } from '../../../test/support/temp-library.ts'
import { planSegments } from '../../stream/hls/playlist/segment-plan.ts'
import { durationSeconds } from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import type { SampleRun } from '../media-reader.ts'
import { createMp4Reader } from './mp4-reader.ts'

const reader = createMp4Reader()
const { signal } = new AbortController()
const SECONDS = 40
const FPS = 10
const PACKETS = 20
const FRAME_BYTES = 100
const PACKET_BYTES = 10
const SECOND_BYTES = FPS * FRAME_BYTES + PACKETS * PACKET_BYTES
const MEDIA_AT = 16_384

/** A chunk of each track per second: a GOP, and its audio. */
function tracks(): { video: TrackPlan; audio: TrackPlan } {
  const chunkOffsets = Array.from({ length: SECONDS }, (_, at) => MEDIA_AT + at * SECOND_BYTES)
  const video: TrackPlan = {
    kind: 'video',
    timescale: 10_000,
    sampleEntries: [avc1(AVC_C)],
    durations: [[SECONDS * FPS, 1000]],
    compositionOffsets: Array.from({ length: SECONDS * FPS }, (_, at) => [1, (at % 2) * 1000]),
    syncs: Array.from({ length: SECONDS }, (_, at) => at * FPS + 1),
    sizes: Array.from({ length: SECONDS * FPS }, () => FRAME_BYTES),
    chunkRuns: [[1, FPS, 1]],
    chunkOffsets,
  }
  const audio: TrackPlan = {
    kind: 'audio',
    timescale: 20_000,
    sampleEntries: [mp4a(AAC_LC)],
    durations: [[SECONDS * PACKETS, 1000]],
    sizes: Array.from({ length: SECONDS * PACKETS }, () => PACKET_BYTES),
    chunkRuns: [[1, PACKETS, 1]],
    chunkOffsets: chunkOffsets.map((offset) => offset + FPS * FRAME_BYTES),
  }
  return { video, audio }
}

type Read = { isGap: true } | { isGap: false; runs: SampleRun[] }

async function readPlan({ video, audio }: { video: TrackPlan; audio: TrackPlan }) {
  const head = Buffer.concat([ftyp(), moov([video, audio])])
  const file = bytesFile(head, MEDIA_AT + SECONDS * SECOND_BYTES)
  const index = await reader.index(file, signal)
  const segments: Read[] = []
  for (const { from, to, isGap } of planSegments(index.splitPoints, { segmentSeconds: 4 })
    .segments) {
    const content = isGap === true ? undefined : await reader.readSegment(file, index, { from, to })
    segments.push(
      content?.kind === 'samples' ? { isGap: false, runs: content.runs } : { isGap: true },
    )
  }
  return { index, segments }
}

/** Reads a copy with a wrong entry; returns it with the numbers of the segments that differ. */
async function readCorrupt(change: (plans: ReturnType<typeof tracks>) => void) {
  const plans = tracks()
  const healthy = await readPlan(plans)
  expect(healthy.index.limitations).toBeUndefined()
  change(plans)
  const corrupt = await readPlan(plans)
  expect(corrupt.segments).toHaveLength(healthy.segments.length)
  const changed = corrupt.segments.flatMap((segment, at) =>
    isSame(segment, healthy.segments[at]) ? [] : [at],
  )
  return { ...corrupt, changed }
}

function isSame(one: Read, other: Read | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function put(values: ArrayLike<number>, at: number, value: number): void {
  Object.assign(values, { [at]: value })
}

function videoSamples(segment: Read | undefined): number {
  const runs = segment?.isGap === false ? segment.runs : []
  return runs.find(({ kind }) => kind === 'video')?.sizes.length ?? 0
}

describe('a wrong entry in the tables of an MP4', () => {
  it('of a size far beyond the file costs the rest of its chunk', async () => {
    const { index, segments, changed } = await readCorrupt(({ video }) => {
      put(video.sizes, 9 * FPS + 5, 2 ** 30)
    })
    expect(changed).toEqual([2])
    expect(videoSamples(segments[2])).toBe(4 * FPS - 5)
    expect(index.limitations).toEqual([{ code: 'samples-unreadable', samples: 5, seconds: 9 }])
  })

  it('of a run after the last chunk costs nothing, nor do the runs after it', async () => {
    const { changed } = await readCorrupt(({ audio }) => {
      audio.chunkRuns.push([65_000, 2 * PACKETS, 1], [30, PACKETS, 1], [31, PACKETS, 1])
    })
    expect(changed).toEqual([])
  })

  it('of a size over the next chunk costs the rest of its chunk', async () => {
    const { changed, segments } = await readCorrupt(({ video }) => {
      put(video.sizes, 9 * FPS + 5, FRAME_BYTES + 2048)
    })
    expect(changed).toEqual([2])
    expect(videoSamples(segments[2])).toBe(4 * FPS - 5)
  })

  it('of a chunk after the end of the file costs its GOP', async () => {
    const { index, segments, changed } = await readCorrupt(({ video }) => {
      put(video.chunkOffsets, 9, 2 ** 31)
    })
    expect(changed).toEqual([2])
    expect(videoSamples(segments[2])).toBe(3 * FPS)
    expect(index.limitations).toMatchObject([{ samples: FPS }])
  })

  it('of a key frame costs the frames that need it', async () => {
    const { segments, changed } = await readCorrupt(({ video }) => {
      put(video.sizes, 9 * FPS, 2 ** 30)
    })
    expect(changed).toEqual([2])
    expect(videoSamples(segments[2])).toBe(3 * FPS)
  })

  it('in all chunks of a segment makes it a gap', async () => {
    const { segments, changed } = await readCorrupt(({ video, audio }) => {
      for (const second of [8, 9, 10, 11]) {
        put(video.chunkOffsets, second, 2 ** 31)
        put(audio.chunkOffsets, second, 2 ** 31)
      }
    })
    expect(changed).toEqual([2])
    expect(segments.map(({ isGap }) => isGap).indexOf(true)).toBe(2)
  })

  it('of a composition offset costs nothing but the time of its frame', async () => {
    for (const offset of [2 ** 30, -(2 ** 31)]) {
      const { changed } = await readCorrupt(({ video }) => {
        if (video.compositionOffsets) video.compositionOffsets[9 * FPS + 5] = [1, offset]
      })
      expect(changed).toEqual([2])
    }
  })

  it('of a key frame number costs that key frame', async () => {
    for (const number of [2 ** 30, 0, 5000]) {
      const { index } = await readCorrupt(({ video }) => put(video.syncs ?? [], 9, number))
      expect(index.splitPoints.startTicks.length).toBeGreaterThanOrEqual(SECONDS - 2)
    }
  })

  it('in all chunks refuses the recording with a reason', async () => {
    const plans = tracks()
    plans.video.chunkOffsets = Array.from(plans.video.chunkOffsets, () => 2 ** 31)
    plans.audio.chunkOffsets = Array.from(plans.audio.chunkOffsets, () => 2 ** 31)
    await expect(readPlan(plans)).rejects.toMatchObject({ code: 'unplayable' })
  })
})

/** Reads a recording once for each `step`th bit of its tables of a type, with that bit inverted. */
async function readFlipped(name: string, { type, step }: { type: string; step: number }) {
  const bytes = readFileSync(fixturePath(name))
  const healthy = await reader.index(bytesFile(bytes), signal)
  const flipped: MediaIndex[] = []
  for (let at = bytes.indexOf(type); at !== -1; at = bytes.indexOf(type, at + 4)) {
    const entries = at + 12
    const end = at - 4 + bytes.readUInt32BE(at - 4)
    for (let bit = entries * 8; bit < end * 8; bit += step) {
      const copy = Buffer.from(bytes)
      const mask = 1 << (bit % 8)
      copy.writeUInt8(copy.readUInt8(bit >> 3) ^ mask, bit >> 3)
      flipped.push(await reader.index(bytesFile(copy), signal))
    }
  }
  expect(flipped.length).toBeGreaterThan(250)
  return { healthy, flipped }
}

describe('a wrong bit in the tables of a real recording', () => {
  it.each([
    ['mp4-h264-aac51-moov-last-bframes.mp4', 19],
    ['mp4-h264-aac-moov-first.mp4', 1],
  ])('of the chunk runs of %s is repaired', async (name, step) => {
    const { healthy, flipped } = await readFlipped(name, { type: 'stsc', step })
    const isRepaired = ({ splitPoints }: MediaIndex): boolean =>
      isDeepStrictEqual(splitPoints, healthy.splitPoints)
    // The others agree with the number of samples in two ways.
    expect(flipped.filter(isRepaired).length).toBeGreaterThan(0.98 * flipped.length)
  })

  it('of the durations does not multiply the duration of the recording', async () => {
    const name = 'mp4-h264-vfr.mp4'
    const { healthy, flipped } = await readFlipped(name, { type: 'stts', step: 13 })
    const seconds = durationSeconds(healthy)
    // A shorter duration of a frame may be true: mdhd alone does not refute it.
    for (const index of flipped) expect(durationSeconds(index)).toBeLessThan(3 * seconds)
  })

  it.each([8, 10])('is not assumed where mdhd counts an empty edit of %i s', async (seconds) => {
    // With one other byte in stts, the frames would have the duration of mdhd.
    const video = plainTrack('video', 120, { timescale: 15_360, durations: [[120, 512]] })
    const readWith = async (more: Partial<TrackPlan>) => {
      const head = Buffer.concat([ftyp(), moov([{ ...video, ...more }])])
      return reader.index(bytesFile(head, 20_000), signal)
    }
    const healthy = await readWith({ mediaTicks: 4 * 15_360 })
    const delayed = await readWith({
      mediaTicks: (4 + seconds) * 15_360,
      edits: [
        [seconds * 1000, -1],
        [4000, 0],
      ],
    })
    expect(durationSeconds(delayed)).toBe(4)
    expect(delayed.splitPoints).toEqual(healthy.splitPoints)
    expect(delayed.limitations).toBeUndefined()
  })

  it('is not assumed if no single one explains a wrong duration', async () => {
    const plans = tracks()
    const healthy = await readPlan(plans)
    plans.video.mediaTicks = 1
    const { index } = await readPlan(plans)
    expect(index.splitPoints).toEqual(healthy.index.splitPoints)
  })
})

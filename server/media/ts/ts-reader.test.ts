// The reader with real recordings, compared with the demuxer of FFmpeg.
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { openDiskFile } from '../../../test/support/bytes-file.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { readReferencePackets } from '../../../test/support/verify/reference-packets.ts'
import type { ReferencePacket } from '../../../test/support/verify/reference-packets.ts'
import { rangesOf } from '../../../test/support/verify/served-samples.ts'
import {
  everySplitPoint,
  groupedSplitPoints,
  readSegmentBytes,
} from '../../../test/support/verify/ts-segments.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import {
  SPLIT_DISCONTINUITY,
  SPLIT_KEY_FRAME,
  SPLIT_FORCED,
  durationSeconds,
} from '../media-index.ts'
import type { SplitPointRange, MediaIndex } from '../media-index.ts'
import { createTsReader } from './ts-reader.ts'
import { patienceMs } from '../../../test/support/patience.ts'

const reader = createTsReader()
const fixtures = path.join(import.meta.dirname, '../../../test/fixtures/media')
const playable = [
  'ts-h264-aac-clean-hls-concat.ts',
  'ts-h264-aac-pts-reset-backwards.ts',
  'ts-h264-aac-pat-not-at-start.ts',
  'ts-h264-aac-cea608.ts',
  'ts-h264-pts-wrap-33bit.ts',
]

const folder = makeTempFolder('ts-reader')

interface Indexed {
  file: OpenFile
  index: MediaIndex
}

async function withIndex(name: string, lookup: (indexed: Indexed) => Promise<void>): Promise<void> {
  const file = await openDiskFile(path.join(fixtures, name))
  try {
    await lookup({ file, index: await reader.index(file, AbortSignal.timeout(patienceMs)) })
  } finally {
    await file.close()
  }
}

/**
 * Payload and time of packets. FFmpeg unwraps the 33-bit clock by earlier packets, so the raw time
 * is used.
 */
function facts(packets: ReferencePacket[], kind: 'video' | 'audio'): string[] {
  return packets
    .filter((packet) => packet.kind === kind)
    .map(({ ptsSeconds, sha1 }) => {
      const ticks = Math.round(ptsSeconds * 90_000)
      return `${sha1} ${((ticks % 2 ** 33) + 2 ** 33) % 2 ** 33}`
    })
}

async function demux(bytes: Uint8Array): Promise<ReferencePacket[]> {
  const segment = path.join(folder, 'segment.ts')
  await writeFile(segment, bytes)
  return readReferencePackets(segment)
}

async function demuxEach(
  indexed: Indexed,
  ranges: SplitPointRange[],
): Promise<ReferencePacket[][]> {
  const demuxed: ReferencePacket[][] = []
  for (const range of ranges) {
    demuxed.push(await demux(await readSegmentBytes({ reader, ...indexed }, range)))
  }
  return demuxed
}

describe('segments of real recordings', () => {
  it.each(playable)(
    '%s: every segment can be read alone, and together they are the source',
    (name) =>
      withIndex(name, async (indexed) => {
        const source = await readReferencePackets(path.join(fixtures, name))
        for (const ranges of [
          everySplitPoint(indexed.index),
          groupedSplitPoints(indexed.index, 6),
        ]) {
          const segments = await demuxEach(indexed, ranges)
          const together = segments.flat()
          expect(facts(together, 'video')).toEqual(facts(source, 'video'))
          expect(facts(together, 'audio')).toEqual(facts(source, 'audio'))
          for (const segment of segments) {
            expect(segment.find(({ kind }) => kind === 'video')?.isKey).toBe(true)
          }
        }
      }),
  )

  it.each(playable)('%s: consecutive segments read like the source', (name) =>
    withIndex(name, async (indexed) => {
      const source = await readReferencePackets(path.join(fixtures, name))
      const chunks: Uint8Array[] = []
      for (const range of rangesOf(indexed.index, 1)) {
        chunks.push(await readSegmentBytes({ reader, ...indexed }, range))
      }
      const joined = await demux(Buffer.concat(chunks))
      expect(facts(joined, 'video')).toEqual(facts(source, 'video'))
      expect(facts(joined, 'audio')).toEqual(facts(source, 'audio'))
    }),
  )

  it.each(playable)('%s: split points have the times of the key frames', (name) =>
    withIndex(name, async (indexed) => {
      const ranges = everySplitPoint(indexed.index)
      const segments = await demuxEach(indexed, ranges)
      const { splitPoints } = indexed.index
      const startTicks = ranges.map(({ from }) => splitPoints.startTicks[from])
      const flags = ranges.map(({ from }) => splitPoints.flags[from])
      segments.slice(1).forEach((segment, i) => {
        if (((flags[i + 1] ?? 0) & SPLIT_DISCONTINUITY) !== 0) return
        const [before, own] = [segments[i], segment].map(
          (packets) => packets?.find(({ kind }) => kind === 'video')?.ptsSeconds ?? NaN,
        )
        // Split points at the start and at a discontinuity begin with the earliest packet, of any
        // track.
        const tolerance = i === 0 || ((flags[i] ?? 0) & SPLIT_DISCONTINUITY) !== 0 ? 0.2 : 1e-4
        const step = ((startTicks[i + 1] ?? 0) - (startTicks[i] ?? 0)) / 90_000
        expect(Math.abs(step - ((own ?? 0) - (before ?? 0)))).toBeLessThan(tolerance)
      })
    }),
  )
})

describe('the index of real recordings', () => {
  it.each([
    ['ts-h264-aac-clean-hls-concat.ts', 36.0, 'avc1.42c00d 320x180'],
    ['ts-h264-aac-pts-reset-backwards.ts', 12.0, 'avc1.42c00d 320x180'],
    ['ts-h264-aac-pat-not-at-start.ts', 0.65, 'avc1.42c01f 864x480'],
    ['ts-h264-aac-cea608.ts', 10.12, 'avc1.42c00d 400x170'],
    ['ts-h264-pts-wrap-33bit.ts', 20.0, 'avc1.64000b 128x72'],
    ['ts-hevc-aac51.ts', 5.01, 'hvc1.1.6.L120.90 1920x1080'],
  ])('%s lasts %d s', (name, seconds, frame) =>
    withIndex(name, async ({ index }) => {
      expect(Math.abs(durationSeconds(index) - seconds)).toBeLessThan(0.05)
      const [video] = index.tracks
      expect(video?.kind === 'video' && `${video.codec} ${video.width}x${video.height}`).toBe(frame)
      expect(index.splitPoints.startTicks[0]).toBe(0)
      expect(deserialize(serialize(index))).toEqual(index)
      return Promise.resolve()
    }),
  )

  it('finds a discontinuity where the clock is reset, and none where it wraps', async () => {
    await withIndex('ts-h264-aac-pts-reset-backwards.ts', async ({ index }) => {
      const breaks = index.splitPoints.flags.filter((flag) => (flag & SPLIT_DISCONTINUITY) !== 0)
      expect(breaks.length).toBe(1)
      return Promise.resolve()
    })
    await withIndex('ts-h264-pts-wrap-33bit.ts', async ({ index }) => {
      expect(index.splitPoints.flags.map((flag) => flag & ~SPLIT_FORCED)).toEqual(
        Uint8Array.of(SPLIT_KEY_FRAME, 0, 0, 0),
      )
      return Promise.resolve()
    })
  })

  it('describes the audio', () =>
    withIndex('ts-hevc-aac51.ts', async ({ index }) => {
      const audio = { kind: 'audio', codec: 'mp4a.40.2', channels: 6, sampleRate: 48_000 }
      expect(index.tracks[1]).toMatchObject(audio)
      return Promise.resolve()
    }))

  it.each([
    [
      'ts-mpeg2-1080i-422-dts-mp2-two-audio.ts',
      { code: 'video-codec-unsupported', codec: 'MPEG-2' },
    ],
    ['README.md', { code: 'container-unknown' }],
  ])('%s is unplayable', async (name, reason) => {
    const file = await openDiskFile(path.join(fixtures, name))
    const index = reader.index(file, AbortSignal.timeout(patienceMs))
    await expect(index).rejects.toMatchObject({ code: 'unplayable', reason })
    await file.close()
  })
})

describe('key frames of real recordings', () => {
  it.each(playable)('%s: the key frame at every split point is the one FFmpeg reads', (name) =>
    withIndex(name, async (indexed) => {
      const { index, file } = indexed
      for (const range of everySplitPoint(index)) {
        const frame = await reader.readKeyFrame(file, index, range.from)
        const segment = await demux(await readSegmentBytes({ reader, ...indexed }, range))
        const first = segment.find(({ kind }) => kind === 'video')
        expect(frame?.codec).toBe('h264')
        // FFmpeg splits an access unit at its delimiter; the PES packet is the same unit.
        expect(Math.abs((frame?.data.length ?? 0) - (first?.sizeBytes ?? 0))).toBeLessThan(8)
      }
    }),
  )
})

// The MP4 reader on real recordings, compared packet by packet with FFmpeg's demuxer.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { bytesFile, openDiskFile } from '../../../test/support/bytes-file.ts'
import { ftyp, u32 } from '../../../test/support/make/make-mp4.ts'
import {
  rangesOf,
  readRuns,
  readServedSamples,
} from '../../../test/support/verify/served-samples.ts'
import {
  type ReferencePacket,
  packetsOf,
  readReferencePackets,
} from '../../../test/support/verify/reference-packets.ts'
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME, durationSeconds } from '../media-index.ts'
import { createMp4Reader } from './mp4-reader.ts'

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures/media/', import.meta.url))
const reader = createMp4Reader()
const { signal } = new AbortController()

interface Expected {
  name: string
  /** FFmpeg's stream numbers of the served tracks. */
  video: number
  audio?: number
  codecs: string[]
}

const RECORDINGS: Expected[] = [
  {
    name: 'mp4-av1-10bit-aac-portrait.mp4',
    video: 0,
    audio: 1,
    codecs: ['av01.0.31M.10', 'mp4a.40.2'],
  },
  {
    name: 'mp4-h264-aac-bitstream-corrupted.mp4',
    video: 0,
    audio: 1,
    codecs: ['avc1.64002a', 'mp4a.40.2'],
  },
  {
    name: 'mp4-h264-aac-editlist-video-starts-1s.mp4',
    video: 0,
    audio: 1,
    codecs: ['avc1.42c028', 'mp4a.40.2'],
  },
  { name: 'mp4-h264-aac-moov-first.mp4', video: 0, audio: 1, codecs: ['avc1.64001f', 'mp4a.40.2'] },
  {
    name: 'mp4-h264-aac51-moov-last-bframes.mp4',
    video: 0,
    audio: 1,
    codecs: ['avc1.64001e', 'mp4a.40.2'],
  },
  { name: 'mp4-h264-mp3.mp4', video: 0, audio: 1, codecs: ['avc1.64001e', 'mp4a.40.2'] },
  { name: 'mp4-h264-resolution-change-two-stsd.mp4', video: 0, codecs: ['avc1.64001f'] },
  {
    name: 'mp4-h264-two-video-two-audio-movtext.mp4',
    video: 0,
    audio: 1,
    codecs: ['avc1.64000c', 'mp4a.40.2', 'mp4a.40.2'],
  },
  { name: 'mp4-h264-vfr.mp4', video: 0, codecs: ['avc1.64001f'] },
  { name: 'mp4-hevc-hev1-aac.mp4', video: 0, audio: 1, codecs: ['hvc1.1.6.L63.90', 'mp4a.40.2'] },
  { name: 'mp4-hevc-hvc1-aac.mp4', video: 0, audio: 1, codecs: ['hvc1.1.6.L120.90', 'mp4a.40.2'] },
  {
    name: 'mov-h264-aac-rotated90-audio-first.mov',
    video: 1,
    audio: 0,
    codecs: ['avc1.42001e', 'mp4a.40.2'],
  },
]

describe('real recordings', () => {
  it.each(RECORDINGS)('serves $name packet for packet', async (expected) => {
    const path = FIXTURES + expected.name
    const file = await openDiskFile(path)
    const index = structuredClone(await reader.index(file, signal))
    const reference = await readReferencePackets(path)
    const served = [expected.video, expected.audio ?? -1].flatMap((at) => packetsOf(reference, at))
    // FFmpeg's time 0 is that of the edit lists; the session's is the earliest packet.
    const start = Math.min(...served.map((packet) => packet.ptsSeconds))
    expect(index.tracks.map((track) => track.codec)).toEqual(expected.codecs)
    for (const splitPointsPerSegment of [1, 2, 1000]) {
      const segments = await readRuns(
        reader,
        { file, index },
        rangesOf(index, splitPointsPerSegment),
      )
      for (const track of index.tracks) {
        const stream = track.kind === 'video' ? expected.video : (expected.audio ?? -1)
        const samples = await readServedSamples(file, segments, track.kind)
        compare(samples, packetsOf(reference, stream), start)
      }
    }
    const negative = (await readRuns(reader, { file, index }, rangesOf(index, 1)))
      .flatMap(({ runs }) => runs)
      .filter((run) => run.compositionOffsets?.some((offset) => offset < 0) === true)
    expect(negative).toEqual([])
    const end = Math.max(...served.map((packet) => packet.ptsSeconds + packet.durationSeconds))
    expect(durationSeconds(index)).toBeCloseTo(end - start, 1)
    await file.close()
  })

  it.each(RECORDINGS)('splits $name at its key frames', async (expected) => {
    const path = FIXTURES + expected.name
    const file = await openDiskFile(path)
    const index = await reader.index(file, signal)
    const { startTicks, timescale, flags } = index.splitPoints
    expect(startTicks[0]).toBe(0)
    expect([...flags]).toEqual([...flags].map(() => SPLIT_KEY_FRAME))
    const segments = await readRuns(reader, { file, index }, rangesOf(index, 1))
    const frames = await readServedSamples(file, segments, 'video')
    const audioTracks = await readServedSamples(file, segments, 'audio')
    for (const [splitPoint, ticks] of startTicks.entries()) {
      const [first] = frames.filter((sample) => sample.splitPoint === splitPoint)
      expect(first?.isKey).toBe(true)
      const presented = splitPoint === 0 ? 0 : first?.ptsSeconds
      expect(presented).toBeCloseTo(ticks / timescale, 6)
      const next = (startTicks[splitPoint + 1] ?? Infinity) / timescale
      const inside = audioTracks.filter((sample) => sample.splitPoint === splitPoint)
      const isInside = inside.every(
        ({ ptsSeconds }) => ptsSeconds >= ticks / timescale - 1e-9 && ptsSeconds < next,
      )
      expect(isInside).toBe(true)
    }
    const keys = packetsOf(await readReferencePackets(path), expected.video)
    // FFmpeg's parser takes the flag from the corrupt first frame of one file; the table of the
    // file is right.
    const [, ...laterKeys] = keys.map((packet) => packet.isKey)
    expect(frames.map((sample) => sample.isKey)).toEqual([true, ...laterKeys])
    await file.close()
  })
})

function compare(
  samples: { sha1: string; sizeBytes: number; ptsSeconds: number; dtsSeconds: number }[],
  packets: ReferencePacket[],
  start: number,
): void {
  expect(samples.length).toBe(packets.length)
  expect(samples.map((sample) => sample.sha1)).toEqual(packets.map((packet) => packet.sha1))
  const worst = Math.max(
    ...samples.map(({ ptsSeconds }, at) => {
      return Math.abs(ptsSeconds - ((packets[at]?.ptsSeconds ?? NaN) - start))
    }),
  )
  // Edits count milliseconds and track ticks are finer: FFmpeg rounds to milliseconds.
  expect(worst).toBeLessThan(1 / 8000)
  expect(samples.every(({ dtsSeconds }) => dtsSeconds >= 0)).toBe(true)
  const decodeTimes = samples.map((sample) => sample.dtsSeconds)
  expect(decodeTimes).toEqual(decodeTimes.toSorted((a, b) => a - b))
}

describe('initTracks()', () => {
  it('turns hev1 into hvc1 and copies the rest of the entry', async () => {
    const file = await openDiskFile(`${FIXTURES}mp4-hevc-hev1-aac.mp4`)
    const index = await reader.index(file, signal)
    const [video] = reader.initTracks(index, 0) ?? []
    const entry = Buffer.from(video?.sampleEntry ?? [])
    const bytes = await readFile(`${FIXTURES}mp4-hevc-hev1-aac.mp4`)
    const original = bytes.indexOf('hev1', bytes.indexOf('stsd')) - 4
    const expected = Buffer.from(bytes.subarray(original, original + bytes.readUInt32BE(original)))
    expected.write('hvc1', 4)
    expect(entry.equals(expected)).toBe(true)
    await file.close()
  })

  it('converts QuickTime audio to mp4a, and copies matrix and size of rotated video', async () => {
    const file = await openDiskFile(`${FIXTURES}mov-h264-aac-rotated90-audio-first.mov`)
    const index = await reader.index(file, signal)
    const [video, audio] = reader.initTracks(index, 0) ?? []
    expect(index.tracks[0]).toMatchObject({ kind: 'video', rotationDegrees: 90 })
    expect(video).toMatchObject({ width: 568, height: 320 })
    expect([...(video?.matrix ?? [])].slice(0, 5)).toEqual([0, 0x1_00_00, 0, -0x1_00_00, 0])
    const entry = Buffer.from(audio?.sampleEntry ?? [])
    expect(entry.readUInt32BE(0)).toBe(entry.length)
    expect(entry.toString('latin1', 4, 8)).toBe('mp4a')
    expect(entry.readUInt16BE(16)).toBe(0)
    expect(entry.readUInt16BE(32)).toBe(44_100)
    expect(entry.toString('latin1', 40, 44)).toBe('esds')
    expect(audio).not.toHaveProperty('matrix')
    await file.close()
  })
})

describe('readKeyFrame()', () => {
  it('returns the key frame of a split point with its decoder configuration', async () => {
    const path = `${FIXTURES}mp4-h264-aac51-moov-last-bframes.mp4`
    const file = await openDiskFile(path)
    const index = await reader.index(file, signal)
    const keys = packetsOf(await readReferencePackets(path), 0).filter((packet) => packet.isKey)
    const frame = await reader.readKeyFrame(file, index, 3)
    expect(frame).toMatchObject({ codec: 'h264', rotationDegrees: 0 })
    expect(frame?.data.length).toBe(keys[3]?.sizeBytes)
    expect(frame?.extradata?.[0]).toBe(1)
    await file.close()
  })
})

describe('an unplayable file', () => {
  it('names a corrupt box and its position', async () => {
    const file = await openDiskFile(`${FIXTURES}mp4-unreadable-malformed-box.mp4`)
    await expect(reader.index(file, signal)).rejects.toMatchObject({
      code: 'unplayable',
      reason: { code: 'box-invalid', box: 'free', offsetBytes: 32, defect: 'smaller-than-header' },
    })
    await file.close()
  })

  it('reports a missing moov if the recording was truncated before it', async () => {
    const bytes = await readFile(`${FIXTURES}mp4-h264-aac51-moov-last-bframes.mp4`)
    const parts = [40, 1000, 3_000_000].map((size) => bytes.subarray(0, size))
    parts.push(Buffer.concat([ftyp(), u32(0x1000), Buffer.from('moov'), Buffer.alloc(40)]))
    for (const truncated of parts) {
      await expect(reader.index(bytesFile(truncated), signal)).rejects.toMatchObject({
        code: 'unplayable',
        reason: { code: 'moov-missing', offsetBytes: truncated.length },
      })
    }
  })

  it('reports that other bytes are not MP4', async () => {
    const bytes = await readFile(`${FIXTURES}README.md`)
    await expect(reader.index(bytesFile(bytes), signal)).rejects.toMatchObject({
      code: 'unplayable',
      reason: { code: 'container-unknown' },
    })
    await expect(reader.index(bytesFile(new Uint8Array()), signal)).rejects.toMatchObject({
      reason: { code: 'container-unknown' },
    })
  })

  it('refuses to read segments of a replaced file', async () => {
    const bytes = await readFile(`${FIXTURES}mp4-hevc-hvc1-aac.mp4`)
    const index = await reader.index(bytesFile(bytes), signal)
    const shorter = bytesFile(bytes.subarray(0, -1))
    await expect(reader.readSegment(shorter, index, { from: 0, to: 1 })).rejects.toMatchObject({
      code: 'failed',
    })
  })
})

describe('a recording truncated after its moov box', () => {
  it('plays up to its last complete sample', async () => {
    const path = `${FIXTURES}mp4-h264-aac-moov-first.mp4`
    const bytes = await readFile(path)
    const file = bytesFile(bytes.subarray(0, 600_000))
    const index = await reader.index(file, signal)
    const segments = await readRuns(reader, { file, index }, rangesOf(index, 1))
    const packets = await readReferencePackets(path)
    for (const [stream, kind] of (['video', 'audio'] as const).entries()) {
      const samples = await readServedSamples(file, segments, kind)
      const expected = packetsOf(packets, stream).slice(0, samples.length)
      expect(samples.map((sample) => sample.sha1)).toEqual(expected.map((packet) => packet.sha1))
      expect(samples.length).toBeGreaterThan(20)
      expect(samples.length).toBeLessThan(packetsOf(packets, stream).length)
    }
    expect(durationSeconds(index)).toBeLessThan(5)
    expect([...index.splitPoints.flags].every((flags) => (flags & SPLIT_DISCONTINUITY) === 0)).toBe(
      true,
    )
  })
})

// Limitations of an MP4: where it is truncated or corrupt, and which tracks are not served.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Limitation } from '../../problem.ts'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { type TrackPlan, avc1, box, ftyp, moov, mp4a } from '../../../test/support/make/make-mp4.ts'
import { durationSeconds } from '../media-index.ts'
import { createMp4Reader } from './mp4-reader.ts'

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures/media/', import.meta.url))
const reader = createMp4Reader()
const { signal } = new AbortController()
const AVC_C = Buffer.from('0164001fffe100046764001f01000468ee3cb0', 'hex')
const AAC_LC = Buffer.from('1190', 'hex')
const MEDIA_AT = 10_000

/** A track of 30 samples of 10 bytes. */
function plainTrack(kind: TrackPlan['kind'], more: Partial<TrackPlan> = {}): TrackPlan {
  return {
    kind,
    timescale: 1000,
    sampleEntries: [kind === 'video' ? avc1(AVC_C) : mp4a(AAC_LC)],
    durations: [[30, 100]],
    sizes: Array.from({ length: 30 }, () => 10),
    chunkRuns: [[1, 1, 1]],
    chunkOffsets: Array.from({ length: 30 }, (_, at) => MEDIA_AT + at * 10),
    ...more,
  }
}

async function limitationsOf(tracks: TrackPlan[], sizeBytes = 100_000): Promise<Limitation[]> {
  const bytes = Buffer.concat([ftyp(), moov(tracks)])
  return (await reader.index(bytesFile(bytes, sizeBytes), signal)).limitations ?? []
}

describe('limitations of an MP4', () => {
  it('are absent if there are none', async () => {
    expect(await limitationsOf([plainTrack('video'), plainTrack('audio')])).toEqual([])
  })

  it('contain the end of a truncated copy, in bytes and in seconds', async () => {
    const whole = await readFile(`${FIXTURES}mp4-h264-aac-moov-first.mp4`)
    const index = await reader.index(bytesFile(whole.subarray(0, 600_000)), signal)
    expect(index.limitations).toEqual([
      {
        code: 'truncated',
        unit: 'media',
        offsetBytes: 600_000,
        seconds: durationSeconds(index),
      },
    ])
  })

  it('contain a video track whose frames are all after the truncation', async () => {
    const late = Array.from({ length: 30 }, (_, at) => 50_000 + at * 10)
    const tracks = [plainTrack('video', { chunkOffsets: late }), plainTrack('audio')]
    expect(await limitationsOf(tracks, 20_000)).toMatchObject([
      { code: 'video-not-served', cause: { code: 'track-empty' } },
    ])
  })

  it('contain audio that is corrupt, with its position, or unsupported', async () => {
    const entry = box('QDM2', Buffer.alloc(28))
    expect(
      await limitationsOf([
        plainTrack('video'),
        plainTrack('audio', { sampleEntries: [entry] }),
        plainTrack('audio', { sampleEntries: [] }),
        plainTrack('audio', {
          chunkRuns: [
            [1, 0, 1],
            [1, 0, 1],
          ],
        }),
      ]),
    ).toMatchObject([
      { code: 'audio-not-served', cause: { code: 'audio-codec-unsupported', codec: 'QDM2' } },
      {
        code: 'audio-not-served',
        cause: { code: 'box-invalid', box: 'stsd', defect: 'empty' },
        offsetBytes: expect.any(Number),
      },
      {
        code: 'audio-not-served',
        cause: { code: 'box-invalid', box: 'stsc', defect: 'entry-invalid', value: 0 },
        offsetBytes: expect.any(Number),
      },
    ])
  })

  it('contain further video tracks, but not covers or disabled tracks', async () => {
    const cover = { sampleEntries: [box('jpeg', Buffer.alloc(78))] }
    const limitations = await limitationsOf([
      plainTrack('video'),
      plainTrack('video', cover),
      plainTrack('video', { isDisabled: true }),
      plainTrack('video'),
    ])
    expect(limitations).toEqual([
      { code: 'video-not-served', cause: { code: 'track-limit', tracks: 1 } },
    ])
  })
})

describe('an unplayable MP4', () => {
  it('reports the position of the corrupt box, or the end if moov is missing', async () => {
    const corrupt = await readFile(`${FIXTURES}mp4-unreadable-malformed-box.mp4`)
    await expect(reader.index(bytesFile(corrupt), signal)).rejects.toMatchObject({
      reason: { code: 'box-invalid', box: 'free', offsetBytes: 32 },
    })
    const whole = await readFile(`${FIXTURES}mp4-h264-aac51-moov-last-bframes.mp4`)
    const truncated = bytesFile(whole.subarray(0, 1_000_000))
    await expect(reader.index(truncated, signal)).rejects.toMatchObject({
      reason: { code: 'moov-missing', offsetBytes: 1_000_000 },
    })
  })
})

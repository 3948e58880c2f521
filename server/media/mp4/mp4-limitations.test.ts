// Limitations of an MP4: where it is truncated or corrupt, and which tracks are not served.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Limitation } from '../../base/problem.ts'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { type TrackPlan, box, ftyp, moov, plainTrack } from '../../../test/support/make/make-mp4.ts'
import { durationSeconds } from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import { createMp4Reader } from './mp4-reader.ts'

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures/media/', import.meta.url))
const reader = createMp4Reader()
const { signal } = new AbortController()

async function indexOf(tracks: TrackPlan[], sizeBytes = 100_000): Promise<MediaIndex> {
  const bytes = Buffer.concat([ftyp(), moov(tracks)])
  return reader.index(bytesFile(bytes, sizeBytes), signal)
}

async function limitationsOf(tracks: TrackPlan[], sizeBytes?: number): Promise<Limitation[]> {
  return (await indexOf(tracks, sizeBytes)).limitations ?? []
}

describe('limitations of an MP4', () => {
  it('are absent if there are none', async () => {
    expect(await limitationsOf([plainTrack('video', 30), plainTrack('audio', 30)])).toEqual([])
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
    const tracks = [plainTrack('video', 30, { chunkOffsets: late }), plainTrack('audio', 30)]
    expect(await limitationsOf(tracks, 20_000)).toMatchObject([
      { code: 'video-not-served', cause: { code: 'track-empty' } },
    ])
  })

  it('contain audio that is corrupt, with its position, or unsupported', async () => {
    const entry = box('QDM2', Buffer.alloc(28))
    const { tracks, limitations } = await indexOf([
      plainTrack('video', 30),
      plainTrack('audio', 30, { sampleEntries: [entry] }),
      plainTrack('audio', 30, { sampleEntries: [] }),
      plainTrack('audio', 30, { language: 'eng' }),
      plainTrack('audio', 30, {
        chunkRuns: [
          [1, 0, 1],
          [1, 0, 1],
        ],
      }),
    ])
    expect(tracks).toMatchObject([{ kind: 'video' }, { kind: 'audio', language: 'eng' }])
    expect(limitations).toMatchObject([
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
      plainTrack('video', 30),
      plainTrack('video', 30, cover),
      plainTrack('video', 30, { isDisabled: true }),
      plainTrack('video', 30),
    ])
    expect(limitations).toEqual([
      { code: 'video-not-served', cause: { code: 'track-limit', tracks: 1 } },
    ])
  })
})

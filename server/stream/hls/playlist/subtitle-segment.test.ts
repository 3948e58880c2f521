import { describe, expect, it } from 'vitest'
import { formatSubtitleSegment, readFirstStamp } from './subtitle-segment.ts'

describe('formatSubtitleSegment', () => {
  it('contains every cue that is visible during the segment, at its own time', () => {
    const cues = [
      { startSeconds: 1, endSeconds: 6, text: 'before' },
      { startSeconds: 5, endSeconds: 7, text: 'into' },
      { startSeconds: 11.9994, endSeconds: 4000, text: 'beyond' },
      { startSeconds: 12, endSeconds: 13, text: 'after' },
    ]
    const map = { mediaTicks: 900_000, localSeconds: 6 }
    const segment = { startTicks: 6000, endTicks: 12_000 }
    expect(formatSubtitleSegment(cues, segment, { timescale: 1000, map })).toBe(
      [
        'WEBVTT',
        'X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:06.000',
        '',
        '00:00:05.000 --> 00:00:07.000',
        'into',
        '',
        '00:00:11.999 --> 01:06:40.000',
        'beyond',
        '',
      ].join('\n'),
    )
  })
})

describe('readFirstStamp', () => {
  it('is the first video time whose marker bits are set', () => {
    const corrupt = pesPacket([0x20, 0, 0, 0, 0])
    const whole = pesPacket([0x21, 0, 1, 0x0e, 0x11])
    expect(readFirstStamp(Buffer.concat([corrupt, whole]))).toBe(1800)
    expect(readFirstStamp(corrupt)).toBeUndefined()
  })
})

/** A transport packet of video in which a PES packet with this PTS starts. */
function pesPacket(stamp: number[]): Uint8Array {
  const packet = new Uint8Array(188)
  packet.set([0x47, 0x41, 0, 0x10, 0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, ...stamp])
  return packet
}

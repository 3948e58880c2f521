import { describe, expect, it } from 'vitest'
import { START_CODE } from './nal-unit.ts'
import type { VideoCodec } from './nal-unit.ts'
import { parseVideoParameters } from './video-parameters.ts'

function parseHex(codec: VideoCodec, hex: string) {
  return parseVideoParameters(codec, Buffer.concat([START_CODE, Buffer.from(hex, 'hex')]))
}

/** SPS written by x264 and x265, with the size of the video. */
const written: [string, VideoCodec, string, object][] = [
  [
    'H.264, interlaced and cropped',
    'h264',
    '67640028acd94078044fde0220000003002000000643e2c5b2c0',
    { codec: 'avc1.640028', width: 1920, height: 1080 },
  ],
  [
    'H.264 4:4:4, cropped by single pixels',
    'h264',
    '67f40020919b280ac0c3c5f808800000030080000019078c18cb',
    { codec: 'avc1.f40020', width: 1366, height: 768 },
  ],
  [
    'H.264 with scaling lists',
    'h264',
    '67640020acd94056061e6f011000000300100000030320f1831960',
    { codec: 'avc1.640020', width: 1366, height: 768 },
  ],
  [
    'H.264 baseline',
    'h264',
    '6742c00dd90141fb011000000300100000030320f142a480',
    { codec: 'avc1.42c00d', width: 320, height: 240 },
  ],
  [
    'HEVC Main 10, cropped',
    'hevc',
    '420101022000000300900000030000030078a002ac80301d6d96566924caf0168080000003008000000c84',
    { codec: 'hvc1.2.4.L120.90', width: 1366, height: 768 },
  ],
]

describe('parseVideoParameters()', () => {
  it.each(written)('reads %s', (...[, codec, hex, expected]) => {
    expect(parseHex(codec, hex)).toEqual(expected)
  })

  it.each(written)('returns undefined if truncated: %s', (...[, codec, hex]) => {
    expect(parseHex(codec, hex.slice(0, 12))).toBeUndefined()
  })

  it('returns undefined without a valid SPS', () => {
    expect(parseHex('h264', '68e84381')).toBeUndefined()
    expect(parseHex('h264', '6742c00d00000000000000000000000000000000')).toBeUndefined()
    expect(parseHex('hevc', `4201${'00'.repeat(60)}`)).toBeUndefined()
  })
})

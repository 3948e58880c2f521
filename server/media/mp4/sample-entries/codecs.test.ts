// Codec strings and audio configurations.
import { describe, expect, it } from 'vitest'
import { parseAudioConfig } from '../../codec/audio-specific-config.ts'
import { av1Codec } from '../../codec/av1.ts'
import { avcCodec } from '../../codec/h264.ts'
import { hevcCodec } from '../../codec/hevc.ts'
import { vp9Codec } from '../../codec/vp9.ts'
import { quarterTurns } from '../boxes/matrix.ts'

function bytes(hex: string): DataView {
  const buffer = Buffer.from(hex.replaceAll(' ', ''), 'hex')
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}

describe('codec strings', () => {
  it('names H.264 by profile, constraints and level', () => {
    expect(avcCodec(bytes('01 64 00 1f ff e1 00'), 'avc1')).toBe('avc1.64001f')
    expect(avcCodec(bytes('01 4d 40 1e'), 'avc1')).toBeUndefined()
  })

  it('names HEVC with reversed compatibility flags and without trailing zero constraints', () => {
    const main = '01 01 60000000 b00000000000 5d f000fcfdf8f800000f03'
    expect(hevcCodec(bytes(main), 'hvc1')).toBe('hvc1.1.6.L93.B0')
    const high = '01 62 20000000 900000000000 99 f000fcfdf8f800000f03'
    expect(hevcCodec(bytes(high), 'hvc1')).toBe('hvc1.A2.4.H153.90')
  })

  it('names AV1 and VP9 with level and bit depth', () => {
    expect(av1Codec(bytes('81 05 4c 00'))).toBe('av01.0.05M.10')
    expect(vp9Codec(bytes('01000000 02 1f a2 020202 0000'))).toBe('vp09.02.31.10')
  })
})

describe('parseAudioConfig()', () => {
  const parse = (hex: string, objectType = 0x40) =>
    parseAudioConfig({ objectType, specific: bytes(hex) })

  it('reads AAC-LC', () => {
    expect(parse('1190')).toEqual({
      codec: 'mp4a.40.2',
      sampleRate: 48_000,
      coreRate: 48_000,
      channels: 2,
    })
    expect(parse('1508')).toMatchObject({ sampleRate: 11_025, channels: 1 })
  })

  it('reads HE-AAC with explicit and with backward-compatible signalling', () => {
    expect(parse('2b92 0800')).toMatchObject({
      codec: 'mp4a.40.5',
      coreRate: 22_050,
      sampleRate: 44_100,
    })
    expect(parse('1390 56e5 a0')).toMatchObject({
      codec: 'mp4a.40.5',
      coreRate: 22_050,
      sampleRate: 44_100,
    })
    expect(parse('eb8a 0800')).toMatchObject({ codec: 'mp4a.40.29', channels: 2 })
  })

  it('accepts MPEG-2 AAC, and refuses MP3 and object types that browsers do not decode', () => {
    expect(parse('1190', 0x67)).toMatchObject({ codec: 'mp4a.67' })
    expect(parse('1190', 0x6b)).toBeUndefined()
    expect(parse('b990')).toBeUndefined()
    expect(parseAudioConfig({ objectType: 0x40 })).toBeUndefined()
  })
})

describe('quarterTurns()', () => {
  it.each([
    [[1, 0, 0, 0, 1], 0],
    [[0, 1, 0, -1, 0], 90],
    [[-1, 0, 0, 0, -1], 180],
    [[0, -1, 0, 1, 0], 270],
  ])('reads the rotation of %j', (matrix, degrees) => {
    expect(quarterTurns(Int32Array.from(matrix, (value) => value * 0x1_00_00))).toBe(degrees)
  })
})

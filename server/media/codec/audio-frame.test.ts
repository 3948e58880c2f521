import { describe, expect, it } from 'vitest'
import { adtsFrames, mpegFrames } from '../../../test/support/make-ts.ts'
import { findAudioFrame, framesSeconds } from './audio-frame.ts'

describe('findAudioFrame()', () => {
  it('reads an ADTS header, also behind the rest of another frame', () => {
    const frame = { codec: 'mp4a.40.2', sampleRate: 48_000, channels: 2, samples: 1024, bytes: 100 }
    expect(findAudioFrame('aac', adtsFrames(2))).toEqual(frame)
    expect(findAudioFrame('aac', adtsFrames(2).subarray(30))).toEqual(frame)
  })

  it('tells MP3 from its elders', () => {
    const frame = {
      codec: 'mp4a.40.34',
      sampleRate: 48_000,
      channels: 2,
      samples: 1152,
      bytes: 384,
    }
    expect(findAudioFrame('mpeg', mpegFrames(2, 3))).toMatchObject(frame)
    expect(findAudioFrame('mpeg', mpegFrames(2, 2))).toBe('other')
  })

  it('knows the half rates of MPEG-2', () => {
    const header = Uint8Array.of(0xff, 0xf3, 0x84, 0xc0)
    expect(findAudioFrame('mpeg', header)).toMatchObject({
      sampleRate: 24_000,
      channels: 1,
      samples: 576,
      bytes: 192,
    })
  })

  it('finds nothing in silence', () => {
    expect(findAudioFrame('aac', new Uint8Array(1000))).toBeUndefined()
    expect(findAudioFrame('mpeg', new Uint8Array(1000).fill(0xff))).toBeUndefined()
  })
})

describe('framesSeconds()', () => {
  it('adds up the frames that begin in the bytes', () => {
    expect(framesSeconds('aac', adtsFrames(7))).toBeCloseTo((7 * 1024) / 48_000, 9)
    expect(framesSeconds('aac', adtsFrames(7).subarray(0, 650))).toBeCloseTo((7 * 1024) / 48_000, 9)
    expect(framesSeconds('mpeg', mpegFrames(3, 3))).toBeCloseTo((3 * 1152) / 48_000, 9)
    expect(framesSeconds('aac', new Uint8Array(500))).toBe(0)
  })
})

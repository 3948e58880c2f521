import { describe, expect, it } from 'vitest'
import { adtsFrames, mpegFrames } from '../../../test/support/make/make-ts.ts'
import { adtsFrameAt, flacFrameSamples, mpegFrameAt } from './audio-frame.ts'

describe('adtsFrameAt()', () => {
  it('reads an ADTS header, also after other bytes', () => {
    const frame = { sampleRate: 48_000, channels: 2, samples: 1024, bytes: 100 }
    expect(adtsFrameAt(adtsFrames(2), 0)).toEqual(frame)
    expect(adtsFrameAt(adtsFrames(2).subarray(30), 70)).toEqual(frame)
    expect(adtsFrameAt(adtsFrames(2).subarray(30), 0)).toBeUndefined()
  })

  it('returns undefined for zeros', () => {
    expect(adtsFrameAt(new Uint8Array(1000), 0)).toBeUndefined()
  })
})

describe('mpegFrameAt()', () => {
  it('distinguishes MP3 from the earlier layers', () => {
    const frame = { sampleRate: 48_000, channels: 2, samples: 1152, bytes: 384 }
    const found = mpegFrameAt(mpegFrames(2, 3), 0)
    expect(found).toMatchObject({ ...frame, layer: 3 })
    expect(mpegFrameAt(mpegFrames(2, 2), 0)).toMatchObject({ layer: 2 })
  })

  it('reads the half rates of MPEG-2', () => {
    const header = Uint8Array.of(0xff, 0xf3, 0x84, 0xc0)
    expect(mpegFrameAt(header, 0)).toMatchObject({
      sampleRate: 24_000,
      channels: 1,
      samples: 576,
      bytes: 192,
    })
  })

  it('returns undefined for ones', () => {
    expect(mpegFrameAt(new Uint8Array(1000).fill(0xff), 0)).toBeUndefined()
  })
})

describe('flacFrameSamples()', () => {
  it.each([
    ['fff81900', 192],
    ['fff82900', 576],
    ['fff85900', 4608],
    ['fff8890000', 256],
    ['fff8c90000', 4096],
    ['fff9f90000', 32_768],
    // After a number of one, two and seven bytes.
    ['fff8690000fe', 255],
    ['fff86900c281fe', 255],
    ['fff97900febfbfbfbfbfbf03e7', 1000],
  ])('reads the block size in %s', (hex, samples) => {
    expect(flacFrameSamples(Buffer.from(hex, 'hex'))).toBe(samples)
  })

  it.each(['', 'fff80900', 'fff8690000', 'fff979000003', 'fff0c90000', '00f8c90000'])(
    'returns undefined for %s',
    (hex) => {
      expect(flacFrameSamples(Buffer.from(hex, 'hex'))).toBeUndefined()
    },
  )
})

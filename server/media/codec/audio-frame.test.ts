import { describe, expect, it } from 'vitest'
import { adtsFrames, mpegFrames } from '../../../test/support/make/make-ts.ts'
import { adtsFrameAt, mpegFrameAt } from './audio-frame.ts'

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

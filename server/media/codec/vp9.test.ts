import { describe, expect, it } from 'vitest'
import { parseVp9KeyFrame, parseVp9Private, vpcC } from './vp9.ts'

describe('VP9', () => {
  it('reads profile, depth, sampling and size of key frames', () => {
    // Profile 0: 4:2:0 of 8 bits.
    expect(parseVp9KeyFrame(Buffer.from('82498342200a00078000', 'hex'))).toEqual({
      profile: 0,
      bitDepth: 8,
      chroma: 1,
      isFullRange: false,
      width: 161,
      height: 121,
    })
    // Profile 2, 10 bits.
    expect(parseVp9KeyFrame(Buffer.from('92498342100000000000', 'hex'))).toMatchObject({
      profile: 2,
      bitDepth: 10,
    })
    expect(parseVp9KeyFrame(Buffer.from('86000000', 'hex'))).toBeUndefined()
    expect(parseVp9KeyFrame(new Uint8Array())).toBeUndefined()
  })

  it('reads the features in CodecPrivate of WebM', () => {
    expect(
      parseVp9Private(Buffer.from('01010002011f0301080401 01'.replace(' ', ''), 'hex')),
    ).toEqual({
      profile: 0,
      level: 31,
      bitDepth: 8,
      chroma: 1,
    })
    expect(parseVp9Private(new Uint8Array())).toBeUndefined()
  })

  it('derives the level from the size without a level', () => {
    const features = { profile: 0, bitDepth: 8, chroma: 1 }
    expect([...vpcC(features, { width: 1280, height: 720 })].slice(4, 7)).toEqual([0, 31, 0x82])
    expect(vpcC(features, { width: 16_384, height: 16_384 })[5]).toBe(62)
  })
})

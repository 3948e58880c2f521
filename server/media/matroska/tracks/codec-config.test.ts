// Decoder set-ups that are made from pictures, beside those that muxers wrote.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../../test/support/bytes-file.ts'
import { createMp4Reader } from '../../mp4/mp4-reader.ts'
import { av1Config } from './av1.ts'
import { parseVp9KeyFrame, parseVp9Private, vpcC } from './vp9.ts'

const FOLDER = path.resolve(import.meta.dirname, '../../../../test/fixtures/media')

describe('av1Config', () => {
  it('makes of a sequence header what an MP4 muxer made of it', async () => {
    const bytes = await readFile(path.join(FOLDER, 'mp4-av1-10bit-aac-portrait.mp4'))
    const file = bytesFile(bytes)
    const reader = createMp4Reader()
    const index = await reader.index(file, AbortSignal.timeout(5000))
    const frame = await reader.readKeyFrame(file, index, 0)
    const written = frame?.extradata ?? new Uint8Array()
    const data = Buffer.from(frame?.data ?? [])
    const made = Buffer.from(av1Config(data) ?? [])
    // That muxer left out the sequence header, and where chroma samples lie (the last two bits).
    expect([...written]).toEqual([0x81, 0x1f, 0x4c, 0])
    expect([...made.subarray(0, 4)]).toEqual([0x81, 0x1f, 0x4d, 0])
    expect(made.length).toBeGreaterThan(10)
    expect(data.includes(made.subarray(4))).toBe(true)
  })

  it('finds none in bytes without a sequence header, or cut off in it', () => {
    expect(av1Config(Buffer.from([0x12, 0]))).toBeUndefined()
    expect(av1Config(Buffer.from([0x0a, 0x0b, 0, 0]))).toBeUndefined()
    expect(av1Config(Buffer.from([0x0a, 1, 0]))).toBeUndefined()
    expect(av1Config(Buffer.alloc(50, 0xff))).toBeUndefined()
  })
})

describe('VP9', () => {
  it('reads profile, depth and sampling of key frames', () => {
    // Profile 0: 4:2:0 of 8 bits.
    expect(parseVp9KeyFrame(Buffer.from('8249834220000000', 'hex'))).toEqual({
      profile: 0,
      bitDepth: 8,
      chroma: 1,
      isFullRange: false,
    })
    // Profile 2, 10 bits.
    expect(parseVp9KeyFrame(Buffer.from('9249834210000000', 'hex'))).toMatchObject({
      profile: 2,
      bitDepth: 10,
    })
    expect(parseVp9KeyFrame(Buffer.from('86000000', 'hex'))).toBeUndefined()
    expect(parseVp9KeyFrame(new Uint8Array())).toBeUndefined()
  })

  it('reads the features that WebM writes', () => {
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

  it('takes the level from the size where nothing says it', () => {
    const features = { profile: 0, bitDepth: 8, chroma: 1 }
    expect([...vpcC(features, { width: 1280, height: 720 })].slice(4, 7)).toEqual([0, 31, 0x82])
    expect(vpcC(features, { width: 16_384, height: 16_384 })[5]).toBe(62)
  })
})

import { describe, expect, it } from 'vitest'
import { h264Frame } from '../../../../test/support/make/make-ts.ts'
import type { VideoCodec } from '../../codec/nal-unit.ts'
import { createFrameScan, pictureParameterSets, frameSps, scanFrame } from './frame-start.ts'

function kindOf(bytes: Uint8Array, codec: VideoCodec = 'h264') {
  return scanFrame(createFrameScan(0), codec, bytes)
}

describe('scanPicture()', () => {
  it('distinguishes key frames and recovery points from other frames', () => {
    expect(kindOf(h264Frame('key', 300))).toBe('key')
    expect(kindOf(h264Frame('bare key', 300))).toBe('key')
    expect(kindOf(h264Frame('recovery', 300))).toBe('recovery')
    expect(kindOf(h264Frame('plain', 300))).toBe('other')
    expect(kindOf(new Uint8Array(300))).toBeUndefined()
  })

  it('needs an I slice for a recovery point', () => {
    const recovery = h264Frame('recovery', 300)
    const slice = recovery.lastIndexOf(0x88)
    expect(kindOf(recovery.with(slice, 0x98))).toBe('other')
  })

  it.each([
    [19, 'key'],
    [20, 'key'],
    [21, 'key'],
    [16, 'key'],
    [1, 'other'],
    [9, 'other'],
  ])('reads HEVC slices of type %d', (type, kind) => {
    expect(kindOf(Uint8Array.of(0, 0, 1, type << 1, 1, 0x80, 0, 0), 'hevc')).toBe(kind)
  })

  it('returns the same for any partition of the bytes', () => {
    for (const kind of ['key', 'other key', 'recovery', 'plain'] as const) {
      const frame = h264Frame(kind, 200)
      for (const step of [1, 2, 3, 7, 50]) {
        const scan = createFrameScan(0)
        let seen: ReturnType<typeof scanFrame>
        for (let length = 0; length <= 200 && seen === undefined; length += step) {
          seen = scanFrame(scan, 'h264', frame.subarray(0, length))
        }
        expect(seen).toBe(kindOf(frame))
        const whole = createFrameScan(0)
        scanFrame(whole, 'h264', frame)
        expect(pictureParameterSets(scan, frame)).toEqual(pictureParameterSets(whole, frame))
        expect(frameSps(scan, frame)).toEqual(frameSps(whole, frame))
      }
    }
  })

  it('ignores parameter sets of implausible size', () => {
    const head = h264Frame('key', 100).subarray(0, 40)
    const long = new Uint8Array(9000).fill(0x55)
    const frame = Buffer.concat([head, long, h264Frame('bare key', 50)])
    const scan = createFrameScan(0)
    expect(scanFrame(scan, 'h264', frame)).toBe('key')
    expect(pictureParameterSets(scan, frame)).toBeUndefined()
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTsMaker, VIDEO_PID } from '../../../../test/support/make/make-ts.ts'
import { parsePesHeader, unwrapStamp } from './pes.ts'

const PERIOD = 2 ** 33

function pesBytes(stamps: { pts: number; dts?: number }): Uint8Array {
  const [packet = new Uint8Array(0)] = createTsMaker().pes(VIDEO_PID, stamps, new Uint8Array(150))
  return packet.subarray(packet.length - 150 - (stamps.dts === undefined ? 14 : 19))
}

describe('parsePesHeader()', () => {
  it('reads every 33-bit stamp', () => {
    const ticks = fc.integer({ min: 0, max: PERIOD - 1 })
    fc.assert(
      fc.property(ticks, ticks, (pts, dts) => {
        expect(parsePesHeader(pesBytes({ pts, dts }))).toMatchObject({ stamps: { pts, dts } })
        expect(parsePesHeader(pesBytes({ pts }))).toMatchObject({ stamps: { pts, dts: pts } })
      }),
    )
  })

  it('ignores stamps with corrupt marker bits, and uses the PTS without a DTS', () => {
    const bytes = pesBytes({ pts: 900, dts: 90 })
    const flipped = (at: number) => bytes.with(at, (bytes[at] ?? 0) & 0xfe)
    for (const at of [9, 11, 13])
      expect(parsePesHeader(flipped(at))).not.toHaveProperty('stamps.pts')
    for (const at of [14, 16, 18]) {
      expect(parsePesHeader(flipped(at))).toMatchObject({ stamps: { pts: 900, dts: 900 } })
    }
  })

  it('returns `short` for an incomplete header', () => {
    const bytes = pesBytes({ pts: 1, dts: 1 })
    expect(parsePesHeader(bytes.subarray(0, 8))).toBe('short')
    expect(parsePesHeader(bytes.subarray(0, 18))).toBe('short')
    expect(parsePesHeader(bytes.subarray(0, 19))).toMatchObject({ headerBytes: 19 })
  })

  it('rejects what does not begin a PES packet', () => {
    const bytes = pesBytes({ pts: 1 })
    expect(parsePesHeader(bytes.with(2, 2))).toBe('invalid')
    expect(parsePesHeader(bytes.with(6, 0x10))).toBe('invalid')
  })
})

describe('unwrapStamp()', () => {
  it('returns the nearest time over any number of wraps', () => {
    const near = fc.integer({ min: -(2 ** 31), max: 2 ** 31 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 * PERIOD }), near, (reference, distance) => {
        const time = Math.max(0, reference + distance)
        expect(unwrapStamp(time % PERIOD, reference)).toBe(time)
      }),
    )
  })

  it('returns a negative time if the clock wrapped just before the reference', () => {
    expect(unwrapStamp(PERIOD - 5, 3)).toBe(-5)
  })
})

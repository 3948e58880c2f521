import { describe, expect, it } from 'vitest'
import { dolbyFrameAt } from './dolby-frame.ts'

/** The start of an AC-3 frame: fscod, frmsizecod, and acmod with the bits after it. */
function ac3({ rate = 0, size = 20, mode = 0, bsid = 8 }): Uint8Array {
  return Uint8Array.of(0x0b, 0x77, 0, 0, (rate << 6) | size, bsid << 3, mode, 0)
}

interface Eac3 {
  type?: number
  substream?: number
  sizeBytes: number
  rate?: number
  blocks?: number
  mode?: number
}

function eac3({ type = 0, substream = 0, sizeBytes, rate = 0, blocks = 3, mode = 4 }: Eac3) {
  const words = sizeBytes / 2 - 1
  const frame = new Uint8Array(sizeBytes)
  frame.set([0x0b, 0x77, (type << 6) | (substream << 3) | (words >> 8), words & 0xff])
  frame.set([(rate << 6) | (blocks << 4) | mode, 16 << 3], 4)
  return frame
}

describe('dolbyFrameAt()', () => {
  it('reads AC-3 of every rate', () => {
    // acmod 7 (5 channels), two mix levels, lfeon
    const surround = ac3({ size: 30, mode: 0b111_01_01_1 })
    expect(dolbyFrameAt(surround, 0)).toEqual({
      codec: 'ac3',
      sampleRate: 48_000,
      channels: 6,
      samples: 1536,
      bytes: 1792,
    })
    // 44.1 kHz has frames of two sizes; acmod 2 has a field before lfeon.
    const sizes = [20, 21].map(
      (size) => dolbyFrameAt(ac3({ rate: 1, size, mode: 0b010_00_0_00 }), 0)?.bytes,
    )
    expect(sizes).toEqual([834, 836])
    expect(dolbyFrameAt(ac3({ rate: 2, mode: 0b001_0_0000 }), 0)).toMatchObject({
      sampleRate: 32_000,
      channels: 1,
      bytes: 1152,
    })
    expect(dolbyFrameAt(ac3({ mode: 0b010_00_0_00, bsid: 9 }), 0)?.sampleRate).toBe(24_000)
  })

  it('reads E-AC-3 of fewer blocks and of half rate', () => {
    const frame = { codec: 'eac3', channels: 2, bytes: 200 }
    expect(dolbyFrameAt(eac3({ sizeBytes: 200, blocks: 1 }), 0)).toEqual({
      ...frame,
      sampleRate: 48_000,
      samples: 512,
    })
    expect(dolbyFrameAt(eac3({ sizeBytes: 200, rate: 3, blocks: 0 }), 0)).toEqual({
      ...frame,
      sampleRate: 24_000,
      samples: 1536,
    })
  })

  it('joins dependent substreams to their frame', () => {
    const bytes = Buffer.concat([
      eac3({ sizeBytes: 100 }),
      eac3({ sizeBytes: 60, type: 1, mode: 15 }),
      eac3({ sizeBytes: 40, substream: 1 }),
      eac3({ sizeBytes: 100 }),
    ])
    expect(dolbyFrameAt(bytes, 0)).toMatchObject({ codec: 'eac3', bytes: 200, channels: 6 })
    expect(dolbyFrameAt(bytes, 100)).toBeUndefined()
    expect(dolbyFrameAt(bytes, 200)).toMatchObject({ bytes: 100 })
  })

  it('rejects other bytes', () => {
    expect(dolbyFrameAt(new Uint8Array(100), 0)).toBeUndefined()
    expect(dolbyFrameAt(ac3({ rate: 3 }), 0)).toBeUndefined()
    expect(dolbyFrameAt(ac3({ size: 38 }), 0)).toBeUndefined()
    expect(dolbyFrameAt(ac3({ bsid: 17 }), 0)).toBeUndefined()
    expect(dolbyFrameAt(ac3({}).subarray(0, 6), 0)).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import { isPair, parseFieldFormat, readField } from '../../codec/video-parameters.ts'
import { joinAccessUnits, splitAccessUnits } from './access-units.ts'
import type { SplitOptions } from './access-units.ts'

const H264: SplitOptions = { codec: 'h264', isDropped: () => false, fields: undefined }

/** NAL units as Annex B. */
function annexB(...nals: number[][]): Uint8Array {
  return Uint8Array.from(nals.flatMap((nal) => [0, 0, 1, ...nal]))
}

/**
 * Bytes from a string of bits; blanks are ignored, and the last byte is padded with 1 and zeros.
 */
function bits(text: string): number[] {
  const digits = `${text.replaceAll(' ', '')}1`
  const padded = digits.padEnd(Math.ceil(digits.length / 8) * 8, '0')
  return (padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
}

/** SPS of Main profile that allows fields, with frame_num of four bits. */
const FIELD_SPS = [
  0x67,
  77,
  0,
  30,
  // id 0, log2_max_frame_num 4, poc type 2, 1 reference, gaps 0, 1x1 macroblocks, frame_mbs_only 0
  // …
  ...bits('1 1 011 010 0 1 1 0 0 1 0 0'),
]

/** A slice: first_mb 0, type, pps 0, frame_num, then its field, if any. */
function fieldSlice(frameNumber: number, field: 'top' | 'bottom' | 'frame', nal = 0x41): number[] {
  const number = frameNumber.toString(2).padStart(4, '0')
  const place = { top: '10', bottom: '11', frame: '0' }[field]
  return [nal, ...bits(`1 00110 1 ${number} ${place} 10101010`)]
}

describe('splitAccessUnits()', () => {
  it('joins the slices of a frame, and what precedes it, to one unit', () => {
    const bytes = annexB([9, 16], [6, 5, 5], [0x65, 0x88], [0x65, 0x48], [9, 16], [0x41, 0x88])
    const split = splitAccessUnits(bytes, H264)
    expect(split.units.map(({ isKey, sizeBytes }) => [isKey, sizeBytes])).toEqual([
      [true, 7 + 6 + 6],
      [false, 6],
    ])
    const joined = joinAccessUnits(split, bytes, 0)
    expect([...joinAccessUnits(split, bytes, 1)]).toEqual([0, 0, 0, 2, 0x41, 0x88])
    expect([...joined.subarray(0, 7)]).toEqual([0, 0, 0, 3, 6, 5, 5])
  })

  it('assigns NAL units between two frames without delimiters to the second', () => {
    const bytes = annexB([0x65, 0x88], [6, 1, 1], [0x68, 7], [0x41, 0x88], [0x68, 8], [0x41, 0x48])
    const split = splitAccessUnits(bytes, H264)
    expect(split.units.map(({ sizeBytes }) => sizeBytes)).toEqual([6, 7 + 6 + 6 + 6 + 6])
  })

  it('separates frames of HEVC, and leaves suffixes with theirs', () => {
    const [prefix, suffix, delimiter] = [39 << 1, 40 << 1, 35 << 1]
    const bytes = annexB(
      [delimiter, 1, 5],
      [prefix, 1, 1],
      [19 << 1, 1, 0x80],
      [suffix, 1, 1],
      [1 << 1, 1, 0x80],
      [1 << 1, 1, 0x01],
    )
    const split = splitAccessUnits(bytes, { ...H264, codec: 'hevc' })
    expect(split.units.map(({ isKey, sizeBytes }) => [isKey, sizeBytes])).toEqual([
      [true, 21],
      [false, 14],
    ])
  })

  it('joins the two fields of a frame to one unit', () => {
    const fields = parseFieldFormat(Uint8Array.from(FIELD_SPS))
    expect(fields).toEqual({ frameNumberBits: 4 })
    const bytes = annexB(
      [9, 16],
      fieldSlice(0, 'top', 0x65),
      [9, 16],
      fieldSlice(0, 'bottom'),
      fieldSlice(1, 'top'),
      fieldSlice(1, 'bottom'),
      fieldSlice(2, 'frame'),
      fieldSlice(3, 'bottom', 0x01),
      fieldSlice(3, 'top', 0x01),
      fieldSlice(3, 'bottom', 0x01),
      fieldSlice(3, 'top', 0x01),
      fieldSlice(4, 'top'),
      fieldSlice(5, 'top'),
    )
    const { units } = splitAccessUnits(bytes, { ...H264, fields })
    const slice = 4 + fieldSlice(0, 'top').length
    expect(units.map(({ sizeBytes }) => Math.round(sizeBytes / slice))).toEqual([
      2, 2, 1, 2, 2, 1, 1,
    ])
    expect(units.map(({ isKey }) => isKey).slice(0, 2)).toEqual([true, false])
  })

  it('returns nothing without start codes', () => {
    expect(splitAccessUnits(new Uint8Array(100).fill(7), H264).units).toEqual([])
    expect(splitAccessUnits(Uint8Array.of(0, 0, 1), H264).units).toEqual([])
  })
})

describe('fields', () => {
  it('do not exist if the SPS allows only frames', () => {
    const sps = [0x67, 77, 0, 30, ...bits('1 1 011 010 0 1 1 1 1 0 0')]
    expect(parseFieldFormat(Uint8Array.from(sps))).toBeUndefined()
  })

  it('are a pair if they belong to one frame and have different parity', () => {
    const format = { frameNumberBits: 4 }
    const read = (slice: number[]) => readField(format, Uint8Array.from(slice))
    const top = read(fieldSlice(9, 'top'))
    const bottom = read(fieldSlice(9, 'bottom'))
    expect([top, bottom]).toEqual([
      { frameNumber: 9, isBottom: false },
      { frameNumber: 9, isBottom: true },
    ])
    expect(read(fieldSlice(9, 'frame'))).toBeUndefined()
    expect(top && bottom && isPair(top, bottom)).toBe(true)
    expect(top && isPair(top, top)).toBe(false)
  })
})

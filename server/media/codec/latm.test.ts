import { describe, expect, it } from 'vitest'
import { latmPayload, latmConfig, loasFrameBytes } from './latm.ts'

/** A LOAS frame of an AudioMuxElement given in bits; blanks are ignored. */
function loas(element: string): Uint8Array {
  const digits = element.replaceAll(/\s/g, '')
  const padded = digits.padEnd(Math.ceil(digits.length / 8) * 8, '0')
  const bytes = (padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
  return Uint8Array.of(0x56, 0xe0 | (bytes.length >> 8), bytes.length & 0xff, ...bytes)
}

/** AAC LC, 48 kHz, stereo. */
const SPECIFIC = '00010 0011 0010 000'
const SPECIFIC_BYTES = Uint8Array.of(0x11, 0x90)
/** Version 0, one clock, one frame, one program, one layer. */
const USUAL = '0 0 1 000000 0000 000'
/** Frames of variable length, buffer fullness, no other data, no checksum. */
const TAIL = '000 11111111 0 0'
const PAYLOAD = '00000011 10101010 11001100 11110000'
const RAW = Uint8Array.of(0xaa, 0xcc, 0xf0)

describe('loasFrameBytes()', () => {
  it('reads the length', () => {
    expect(loasFrameBytes(Uint8Array.of(9, 0x56, 0xe1, 0x02), 1)).toBe(3 + 0x102)
    expect(loasFrameBytes(Uint8Array.of(0x56, 0xe0, 0), 0)).toBeUndefined()
    expect(loasFrameBytes(Uint8Array.of(0x56, 0xc0, 9), 0)).toBeUndefined()
    expect(loasFrameBytes(Uint8Array.of(0x56, 0xe0), 0)).toBeUndefined()
  })
})

describe('latmSetUp() and latmPayload()', () => {
  it('extract raw AAC from the common form, with and without a configuration', () => {
    const first = loas(`${USUAL} ${SPECIFIC} ${TAIL} ${PAYLOAD}`)
    expect(latmConfig(first)).toEqual({ kind: 'plain', specific: SPECIFIC_BYTES })
    expect(latmPayload(first, SPECIFIC_BYTES)).toEqual(RAW)
    const next = loas(`1 ${PAYLOAD}`)
    expect(latmConfig(next)).toBeUndefined()
    expect(latmPayload(next, SPECIFIC_BYTES)).toEqual(RAW)
  })

  it('read version 1, which contains the length of the configuration', () => {
    const version = '0 1 0 00 00000000 1 000000 0000 000 00 00010000'
    const frame = loas(`${version} ${SPECIFIC} ${TAIL} ${PAYLOAD}`)
    expect(latmConfig(frame)).toEqual({ kind: 'plain', specific: SPECIFIC_BYTES })
    expect(latmPayload(frame, SPECIFIC_BYTES)).toEqual(RAW)
  })

  it('skip other data and a checksum', () => {
    const tail = '000 11111111 1 0 00001000 1 01010101'
    const frame = loas(`${USUAL} ${SPECIFIC} ${tail} ${PAYLOAD}`)
    expect(latmPayload(frame, SPECIFIC_BYTES)).toEqual(RAW)
  })

  it.each([
    ['several frames at a time', `0 0 1 000001 0000 000 ${SPECIFIC} ${TAIL}`],
    ['several programs', `0 0 1 000000 0001 000 ${SPECIFIC} ${TAIL}`],
    ['several layers', `0 0 1 000000 0000 001 ${SPECIFIC} ${TAIL}`],
    ['version 1A', '0 1 1 0000000000000000'],
    ['a codec other than AAC', `${USUAL} 00110 0011 0010 000 ${TAIL}`],
    ['channels of its own', `${USUAL} 00010 0011 0000 000 ${TAIL}`],
    ['frames of one length', `${USUAL} ${SPECIFIC} 001 11111111 0 0`],
    ['a truncated configuration', `${USUAL} 0001`],
  ])('leave %s to a decoder', (_, element) => {
    expect(latmConfig(loas(element))).toEqual({ kind: 'other' })
    expect(latmPayload(loas(element), SPECIFIC_BYTES)).toBeUndefined()
  })

  it('reject a payload with another configuration, or longer than its frame', () => {
    const frame = loas(`${USUAL} ${SPECIFIC} ${TAIL} ${PAYLOAD}`)
    expect(latmPayload(frame, Uint8Array.of(0x12, 0x10))).toBeUndefined()
    expect(latmPayload(loas('1 11111111 11111111 00000000'), SPECIFIC_BYTES)).toBeUndefined()
  })
})

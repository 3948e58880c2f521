import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BitReader, BitWriter, escapePayload, splitNals, unescapePayload } from './bits.ts'

describe('BitWriter', () => {
  it('writes codes that BitReader reads back', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -70_000, max: 70_000 })), (values) => {
        const writer = new BitWriter(values.length * 10 + 1)
        for (const value of values) {
          writer.signed(value)
          writer.unsigned(Math.abs(value))
        }
        const reader = new BitReader(writer.finish())
        for (const value of values) {
          expect(reader.signed()).toBe(value)
          expect(reader.unsigned()).toBe(Math.abs(value))
        }
      }),
    )
  })

  it('copies any run of bits to any position', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(bytes, fc.nat(), fc.nat({ max: 9 }), (source, place, offset) => {
        const from = place % (source.length * 8)
        const writer = new BitWriter(source.length + 4)
        writer.bits(0, offset)
        writer.copy(source, from, source.length * 8)
        const [copied, original] = [new BitReader(writer.finish()), new BitReader(source)]
        copied.position = offset
        for (original.position = from; original.position < source.length * 8;) {
          expect(copied.bits(1)).toBe(original.bits(1))
        }
      }),
    )
  })
})

describe('escapePayload', () => {
  it('never holds a start code, and is undone by unescapePayload', () => {
    const bytes = fc.array(fc.constantFrom(0, 0, 0, 1, 2, 3, 255), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(bytes, (values) => {
        // A payload ends with its stop bit, so never with zero.
        const payload = Uint8Array.of(...values, 128)
        const nal = escapePayload(65, payload)
        expect(splitNals(nal)).toHaveLength(1)
        expect(unescapePayload(nal.subarray(4))).toEqual(payload)
      }),
    )
  })
})

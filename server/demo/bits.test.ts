import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBitReader } from '../media/codec/bit-reader.ts'
import { splitNals, unescapeNal } from '../media/codec/nal-unit.ts'
import { BitWriter, escapePayload } from './bits.ts'

describe('BitWriter', () => {
  it('writes codes that the bit reader reads back', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -70_000, max: 70_000 })), (values) => {
        const writer = new BitWriter(values.length * 10 + 1)
        for (const value of values) {
          writer.signed(value)
          writer.unsigned(Math.abs(value))
        }
        const reader = createBitReader(writer.finish())
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
        const [copied, original] = [createBitReader(writer.finish()), createBitReader(source)]
        copied.bits(offset)
        original.bits(from)
        while (original.position() < source.length * 8) {
          expect(copied.bits(1)).toBe(original.bits(1))
        }
      }),
    )
  })
})

describe('escapePayload', () => {
  it('never holds a start code, and is undone by unescapeNal', () => {
    const bytes = fc.array(fc.constantFrom(0, 0, 0, 1, 2, 3, 255), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(bytes, (values) => {
        // A payload ends with its stop bit, so never with zero.
        const payload = Uint8Array.of(...values, 128)
        const nal = escapePayload(65, payload)
        expect(splitNals(nal, 2)).toHaveLength(1)
        expect(unescapeNal(nal.subarray(5))).toEqual(payload)
      }),
    )
  })
})

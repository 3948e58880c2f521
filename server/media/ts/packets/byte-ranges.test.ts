import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { appendRange, subtractRanges } from './byte-ranges.ts'

/** The fewest ranges that have exactly these bytes. */
function rangesOf(bytes: readonly number[]): number[] {
  return bytes.flatMap((byte) => [
    ...(bytes.includes(byte - 1) ? [] : [byte]),
    ...(bytes.includes(byte + 1) ? [] : [byte + 1]),
  ])
}

describe('subtractRanges()', () => {
  it('returns the bytes outside of all holes', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 20 })
    const bounds = fc.tuple(fc.nat(60), fc.nat(60))
    fc.assert(
      fc.property(lengths, bounds, (steps, [from, length]) => {
        const edges: number[] = []
        for (const step of steps) edges.push((edges.at(-1) ?? 0) + step)
        const holes = edges.slice(0, edges.length - (edges.length % 2))
        const isIn = (ranges: number[], byte: number) =>
          ranges.some((edge, i) => i % 2 === 0 && edge <= byte && byte < (ranges[i + 1] ?? 0))
        const bytes = Array.from({ length }, (_, i) => from + i)
        const wanted = bytes.filter((byte) => !isIn(holes, byte))
        expect(subtractRanges(from, from + length, holes)).toEqual(rangesOf(wanted))
      }),
    )
  })
})

describe('appendRange()', () => {
  it('joins ranges that touch', () => {
    const ranges: number[] = []
    appendRange(ranges, 0, 188)
    appendRange(ranges, 188, 376)
    appendRange(ranges, 400, 588)
    expect(ranges).toEqual([0, 376, 400, 588])
  })

  it('has the bytes of all ranges, in as few as possible', () => {
    const range = fc.record({ gap: fc.nat(2), length: fc.integer({ min: 1, max: 3 }) })
    fc.assert(
      fc.property(fc.array(range, { maxLength: 12 }), (added) => {
        const ranges: number[] = []
        const bytes: number[] = []
        let at = 0
        for (const { gap, length } of added) {
          appendRange(ranges, at + gap, at + gap + length)
          bytes.push(...Array.from({ length }, (_, i) => at + gap + i))
          at += gap + length
        }
        expect(ranges).toEqual(rangesOf(bytes))
      }),
    )
  })
})

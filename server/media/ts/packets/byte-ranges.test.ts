import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { appendRange, subtractRanges } from './byte-ranges.ts'

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
        const left = subtractRanges(from, from + length, holes)
        for (let byte = 0; byte < 260; byte++) {
          const isWanted = byte >= from && byte < from + length && !isIn(holes, byte)
          expect(isIn(left, byte)).toBe(isWanted)
        }
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
})

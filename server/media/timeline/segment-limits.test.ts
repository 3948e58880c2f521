// Where a segment must start because of its samples, compared with groups of counted intervals.
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UnplayableError } from '../../base/errors.ts'
import {
  MAX_LIMITATIONS,
  SPLIT_FORCED,
  SPLIT_KEY_FRAME,
  SPLIT_REQUIRED,
  SPLIT_UNREADABLE,
} from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import { checkSegmentSamples, withSegmentLimits } from './segment-limits.ts'

/** Split points 3 s apart. */
function indexOf(flags: readonly number[], limitations?: MediaIndex['limitations']): MediaIndex {
  return {
    tracks: [],
    splitPoints: {
      timescale: 1000,
      startTicks: Float64Array.from(flags, (_, i) => i * 3000),
      endTicks: flags.length * 3000,
      flags: Uint8Array.from(flags),
    },
    ...(limitations && { limitations }),
    // Not read here.
    source: { kind: 'none' } as unknown as MediaIndex['source'],
  }
}

/** The samples of each interval, as counts before each split point. */
function countsOf(samples: readonly number[], first = 0) {
  const before: number[] = []
  let total = first
  for (const count of samples) {
    before.push(total)
    total += count
  }
  return { before, total }
}

function limit(samples: readonly number[], flags = samples.map(() => 0)) {
  return withSegmentLimits(indexOf(flags), countsOf(samples))
}

const TOO_MANY = { code: 'limit-exceeded', limit: 'samples-between-key-frames', max: 250_000 }

function limitOrRefuse(index: MediaIndex, counts: ReturnType<typeof countsOf>) {
  try {
    return withSegmentLimits(index, counts)
  } catch (error) {
    if (isDeepStrictEqual(error instanceof UnplayableError && error.reason, TOO_MANY))
      return 'refused'
    throw error
  }
}

/** The same by groups: an interval joins the last group if both have at most 100,000 samples. */
function modelFlags(samples: readonly number[], flags: readonly number[]): number[] {
  const groups: number[][] = []
  const sum = (group: readonly number[]) => group.reduce((all, each) => all + each, 0)
  return samples.map((count, i) => {
    const last = groups.at(-1)
    const joins = last !== undefined && sum(last) + count <= 100_000
    if (joins) last.push(count)
    else groups.push([count])
    const required = joins || i === 0 ? 0 : SPLIT_REQUIRED
    return (flags[i] ?? 0) | required | (count > 250_000 ? SPLIT_UNREADABLE : 0)
  })
}

const interval = fc.record({
  samples: fc.oneof(
    fc.nat(20),
    fc.nat(120_000),
    fc.constantFrom(49_999, 50_000, 50_001, 99_999, 100_000, 100_001),
    fc.constantFrom(249_999, 250_000, 250_001, 300_000),
  ),
  flags: fc.constantFrom(0, SPLIT_KEY_FRAME, SPLIT_FORCED, SPLIT_UNREADABLE),
})

describe('withSegmentLimits()', () => {
  it('starts a segment exactly where a group of intervals would be too large', () => {
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 30 }), fc.nat(9), (intervals, first) => {
        const samples = intervals.map((each) => each.samples)
        const flags = intervals.map((each) => each.flags)
        const index = indexOf(flags)
        const expected = modelFlags(samples, flags)
        const isRefused =
          expected.length > 0 && expected.every((each) => (each & SPLIT_UNREADABLE) !== 0)
        const limited = limitOrRefuse(index, countsOf(samples, first))
        expect(limited === 'refused').toBe(isRefused)
        if (limited === 'refused') return
        expect([...limited.splitPoints.flags]).toEqual(expected)
        const lost = samples.filter((each) => each > 250_000)
        const seconds = samples.findIndex((each) => each > 250_000) * 3
        const total = lost.reduce((sum, each) => sum + each, 0)
        const limitation = { code: 'samples-unreadable', samples: total, seconds }
        expect(limited.limitations).toEqual(total === 0 ? undefined : [limitation])
        expect(index).toEqual(indexOf(flags))
      }),
    )
  })

  it('sets flags that depend on nothing after the next split point', () => {
    fc.assert(
      fc.property(fc.array(interval, { minLength: 2, maxLength: 20 }), (intervals) => {
        const samples = [1, ...intervals.map((each) => each.samples)]
        const all = limit(samples).splitPoints.flags
        for (let count = 1; count < samples.length; count += 1) {
          const known = limit(samples.slice(0, count)).splitPoints.flags
          expect([...known]).toEqual([...all.subarray(0, count)])
        }
      }),
    )
  })

  it('adds the limitation to earlier ones, at most MAX_LIMITATIONS', () => {
    const earlier = Array.from({ length: MAX_LIMITATIONS }, (_, i) => {
      return { code: 'samples-unreadable', samples: i, seconds: i } as const
    })
    const counts = countsOf([1, 300_000])
    const added = { code: 'samples-unreadable', samples: 300_000, seconds: 3 }
    const few = withSegmentLimits(indexOf([0, 0], earlier.slice(0, 2)), counts)
    expect(few.limitations).toEqual([...earlier.slice(0, 2), added])
    const many = withSegmentLimits(indexOf([0, 0], earlier), counts)
    expect(many.limitations).toEqual([...earlier.slice(1), added])
  })
})

describe('checkSegmentSamples()', () => {
  it('accepts 250,000 samples, and no more', () => {
    expect(() => checkSegmentSamples(250_000)).not.toThrow()
    expect(() => checkSegmentSamples(250_001)).toThrow(
      expect.objectContaining({ reason: TOO_MANY }),
    )
  })
})

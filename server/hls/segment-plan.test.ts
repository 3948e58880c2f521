import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CUT_BREAK, CUT_KEY } from '../media/media-index.ts'
import type { CutTable } from '../media/media-index.ts'
import { planSegments } from './segment-plan.ts'

function cutTable(startSeconds: number[], endSeconds: number, flags?: number[]): CutTable {
  const timescale = 90_000
  return {
    timescale,
    startTicks: Float64Array.from(startSeconds, (seconds) => Math.round(seconds * timescale)),
    endTicks: Math.round(endSeconds * timescale),
    flags: Uint8Array.from(startSeconds, (_, i) => flags?.[i] ?? CUT_KEY),
  }
}

function ranges(cuts: CutTable, segmentSeconds = 6): [number, number][] {
  return planSegments(cuts, segmentSeconds).segments.map(({ from, to }) => [from, to])
}

describe('planSegments', () => {
  it('joins key frames until a segment is long enough', () => {
    expect(ranges(cutTable([0, 2, 4, 6, 8, 10, 12], 14))).toEqual([
      [0, 3],
      [3, 6],
      [6, 7],
    ])
  })

  it('takes a key frame that lies a rounding error before the wished length', () => {
    expect(ranges(cutTable([0, 1.9999, 3.9998, 5.9997, 7.9996], 10))).toEqual([
      [0, 3],
      [3, 5],
    ])
  })

  it('makes one long segment where no key frame comes for minutes', () => {
    expect(ranges(cutTable([0, 300], 302))).toEqual([
      [0, 1],
      [1, 2],
    ])
  })

  it('begins a segment at a break, however short the one before is', () => {
    const plan = planSegments(
      cutTable([0, 2, 3, 9], 10, [CUT_KEY, CUT_KEY, CUT_KEY | CUT_BREAK, CUT_KEY]),
      6,
    )
    expect(plan.segments.map(({ from, to, isBreak }) => [from, to, isBreak])).toEqual([
      [0, 2, false],
      [2, 3, true],
      [3, 4, false],
    ])
  })

  it('calls segments independent when each begins with a key frame, but for sound alone', () => {
    expect(planSegments(cutTable([0, 6, 12], 13, [CUT_KEY, CUT_KEY, 0]), 6).isIndependent).toBe(
      true,
    )
    expect(planSegments(cutTable([0, 6, 12], 13, [0, 0, 0]), 6).isIndependent).toBe(true)
    expect(
      planSegments(cutTable([0, 6, 12], 13, [CUT_KEY, CUT_BREAK, CUT_KEY]), 6).isIndependent,
    ).toBe(false)
  })

  it('covers every cut once, without holes, from the start to the end', () => {
    const gaps = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 30 }), (milliseconds, segmentSeconds) => {
        const starts = [0]
        for (const gap of milliseconds) starts.push((starts.at(-1) ?? 0) + gap / 1000)
        const end = starts.pop() ?? 0
        const cuts = cutTable(starts, end)
        const { segments } = planSegments(cuts, segmentSeconds)
        expect(segments[0]).toMatchObject({ from: 0, startTicks: 0 })
        expect(segments.at(-1)).toMatchObject({ to: starts.length, endTicks: cuts.endTicks })
        segments.slice(1).forEach((segment, i) => {
          expect(segment.from).toBe(segments[i]?.to)
          expect(segment.startTicks).toBe(segments[i]?.endTicks)
        })
      }),
    )
  })
})

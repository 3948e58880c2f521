// When a recording is inspected again.
import { expect, test } from 'vitest'
import { planInspectionResult } from './inspection-result.ts'

test.each([
  [1, 1000],
  [512.345_678, 2049],
  [60_000, 30_000],
])('a growing recording rests after an inspection of %d ms for %d ms', (tookMs, restMs) => {
  const context = { nowMs: 1_000_000, tookMs, settlesAtMs: 1_010_000, attempts: 0 }
  const playable = { status: 'playable', durationSeconds: 1.5, isFlawed: false } as const
  expect(planInspectionResult(playable, context).restUntilMs).toBe(1_000_000 + restMs)
})

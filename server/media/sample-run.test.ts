// Sample runs from corrupt timestamps.
import { expect, test } from 'vitest'
import { makeSampleRun } from './sample-run.ts'

const plain = { offset: 0, sizeBytes: 10, isKey: false }

test('makes decode times strictly increasing, never after the presentation time', () => {
  const run = makeSampleRun(
    [
      { ...plain, decodeTicks: 100, presentationTicks: 140, isKey: true },
      { ...plain, decodeTicks: 90, presentationTicks: 95 },
      { ...plain, decodeTicks: -5, presentationTicks: -900 },
      { ...plain, decodeTicks: 180, presentationTicks: 180 },
    ],
    { kind: 'video', timescale: 1000 },
  )
  expect(run?.firstDecodeTicks).toBe(100)
  expect([...(run?.durations ?? [])]).toEqual([1, 1, 78, 78])
  expect([...(run?.compositionOffsets ?? [])]).toEqual([40, 0, 0, 0])
})

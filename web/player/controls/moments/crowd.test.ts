import { expect, test } from 'vitest'
import { crowdPath, findPeaks } from './crowd.ts'

const crowdOf = (counts: number[], offsetSeconds = 0) => ({
  counts,
  bucketSeconds: 60,
  offsetSeconds,
})
const startsOf = (counts: number[], offsetSeconds = 0) =>
  findPeaks(crowdOf(counts, offsetSeconds)).map((peak) => peak.startSeconds)

test('finds the loudest minutes in order of time', () => {
  expect(findPeaks(crowdOf([1, 9, 1, 1, 20, 1]))).toEqual([
    { startSeconds: 60, count: 9 },
    { startSeconds: 240, count: 20 },
  ])
})

test('has one peak where several minutes in a row are loud', () => {
  expect(startsOf([1, 8, 9, 8, 1, 1, 1, 7, 1])).toEqual([120, 420])
})

test('has at most ten, the loudest', () => {
  const counts = Array.from({ length: 60 }, (_, minute) => (minute % 2 === 0 ? 0 : 100 + minute))
  const starts = startsOf(counts)
  expect(starts).toHaveLength(10)
  expect(Math.min(...starts)).toBe(41 * 60)
})

test('has none where all minutes are alike', () => {
  expect(startsOf([5, 5, 5, 5])).toEqual([])
  expect(startsOf([])).toEqual([])
  expect(startsOf([0, 0])).toEqual([])
})

test('moves with the offset, not before the start', () => {
  expect(startsOf([9, 0, 0, 9, 0], -30)).toEqual([0, 150])
  expect(startsOf([9, 0, 9, 0, 8, 0], -150)).toEqual([0, 90])
})

test('draws each minute at its middle, the loudest at the top', () => {
  expect(crowdPath(crowdOf([5, 10]))).toBe('M0 1L30 0.500L90 0.000L120 1Z')
  expect(crowdPath(crowdOf([0], 10))).toBe('M10 1L40 1.000L70 1Z')
})

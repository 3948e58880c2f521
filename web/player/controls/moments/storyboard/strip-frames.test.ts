import { expect, test } from 'vitest'
import type { StoryboardFrame } from './parse-storyboard.ts'
import { cellFrames, frameAt } from './strip-frames.ts'

/** Frames of ten seconds each. */
function storyboardOf(
  count: number,
  [width, height]: readonly [number, number] = [160, 90],
): StoryboardFrame[] {
  return Array.from({ length: count }, (_, at) => ({
    startSeconds: at * 10,
    endSeconds: at * 10 + 10,
    sheetUrl: 'https://a.example/tile-0.jpg',
    x: at,
    y: 0,
    width,
    height,
  }))
}

test.each([
  [0, 0],
  [9.9, 0],
  [10, 1],
  [29.9, 2],
  [30, undefined],
])('at %d the frame is %s', (seconds, x) => {
  expect(frameAt(storyboardOf(3), seconds)?.x).toBe(x)
})

test('fills the widest page with frames in their order', () => {
  const cells = cellFrames(storyboardOf(200), 2000)
  expect(cells).toHaveLength(13)
  expect(cells[0]?.x).toBe(7)
  expect(cells.at(-1)?.x).toBe(192)
})

test.each([
  [[90, 160], 40],
  [[9, 1600], 40],
  [[160, 120], 17],
  [[1600, 90], 6],
] as const)('has cells of about the width of a frame of %j', (size, count) => {
  expect(cellFrames(storyboardOf(3, size), 30)).toHaveLength(count)
})

test('repeats frames where there are few', () => {
  expect(cellFrames(storyboardOf(2), 20).map((frame) => frame?.x)).toEqual([
    ...Array.from({ length: 6 }, () => 0),
    ...Array.from({ length: 7 }, () => 1),
  ])
})

test('has no frames where the storyboard ends early', () => {
  const cells = cellFrames(storyboardOf(1), 20)
  expect(cells.filter((frame) => frame !== undefined)).toHaveLength(6)
  expect(cells.at(-1)).toBeUndefined()
})

test('has no cells without frames or duration', () => {
  expect(cellFrames([], 100)).toEqual([])
  expect(cellFrames(storyboardOf(1), 0)).toEqual([])
})

import { expect, test } from 'vitest'
import { positionAfterKey, positionAtPoint, toPercent } from './timeline.ts'

test.each([
  ['ArrowRight', 35],
  ['ArrowUp', 35],
  ['ArrowLeft', 25],
  ['ArrowDown', 25],
  ['PageUp', 90],
  ['PageDown', 0],
  ['Home', 0],
  ['End', 100],
  ['k', undefined],
])('%s moves from 30 to %s', (key, seconds) => {
  expect(positionAfterKey(key, { positionSeconds: 30, durationSeconds: 100 })).toBe(seconds)
})

test('stays within the session', () => {
  expect(positionAfterKey('ArrowRight', { positionSeconds: 98, durationSeconds: 100 })).toBe(100)
  expect(positionAfterKey('ArrowLeft', { positionSeconds: 2, durationSeconds: 100 })).toBe(0)
})

test.each([
  [100, 0],
  [200, 50],
  [300, 100],
  [0, 0],
  [900, 100],
])('the point %d is at %d seconds', (clientX, seconds) => {
  expect(positionAtPoint(clientX, { left: 100, width: 200 }, 100)).toBe(seconds)
})

test('has a position and a percentage without width or duration', () => {
  expect(positionAtPoint(5, { left: 0, width: 0 }, 100)).toBe(0)
  expect(toPercent(5, 0)).toBe('0.000%')
})

test('shows positions as percentages', () => {
  expect(toPercent(25, 200)).toBe('12.500%')
  expect(toPercent(300, 200)).toBe('100.000%')
})

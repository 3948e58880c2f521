// The queue of recordings without an index.
import { expect, test } from 'vitest'
import { createScanQueueTracker } from './scan-queue.ts'

test('is empty and without age at first', () => {
  expect(createScanQueueTracker(() => 5).read()).toEqual({ recordings: 0, ageMs: 0 })
})

test('ages from the first waiting recording until it is empty again', () => {
  let nowMs = 100
  const queue = createScanQueueTracker(() => nowMs)
  queue.update({ found: 3, done: 0, total: 3 })
  nowMs = 150
  queue.update({ found: 3, done: 2, total: 3 })
  nowMs = 170
  expect(queue.read()).toEqual({ recordings: 1, ageMs: 70 })
  queue.update({ found: 3, done: 3, total: 3 })
  expect(queue.read()).toEqual({ recordings: 0, ageMs: 0 })
  nowMs = 200
  queue.update({ found: 4, done: 3, total: 4 })
  nowMs = 210
  expect(queue.read()).toEqual({ recordings: 1, ageMs: 10 })
})

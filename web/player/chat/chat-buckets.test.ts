import { expect, test } from 'vitest'
import { MAX_SHOWN, messagesUpTo, planBuckets } from './chat-buckets.ts'
import type { ChatMessage } from './chat-source.ts'

const plan = (counts: number[], seconds: number) =>
  planBuckets({ counts, bucketSeconds: 60 }, seconds)

test('needs the buckets with the last 50 messages, and the next one', () => {
  expect(plan([10, 20, 30, 40, 50, 60], 200)).toEqual([3, 2, 1, 4])
  expect(plan([10, 100, 5, 7], 130)).toEqual([2, 1, 3])
})

test('needs no bucket without messages', () => {
  expect(plan([3, 0, 0, 9, 0], 245)).toEqual([3, 0])
  expect(plan([3, 0, 0, 9, 0], 170)).toEqual([0, 3])
  expect(plan([], 10)).toEqual([])
})

test('needs what is before the end after it, and only the first one before the start', () => {
  expect(plan([5, 6], 1000)).toEqual([1, 0])
  expect(plan([5, 6], -10)).toEqual([0])
  expect(plan([5, 6], -100)).toEqual([])
})

/** Two messages per second, from 0 on, 120 in each bucket. */
const bucketOf = (bucket: number): ChatMessage[] =>
  Array.from({ length: 120 }, (_, nth) => {
    const t = bucket * 60 + nth / 2
    return { t, user: 'Bob', text: String(t), id: bucket * 1000 + nth }
  })
const timesAt = (seconds: number, loaded: number[]) =>
  messagesUpTo(plan([120, 120, 120, 120], seconds), seconds, (bucket) =>
    loaded.includes(bucket) ? bucketOf(bucket) : undefined,
  ).map(({ t }) => t)

test('shows the latest messages up to the position, in order', () => {
  const times = timesAt(130.2, [0, 1, 2, 3])
  expect(times.at(0)).toBe(60)
  expect(times.at(-1)).toBe(130)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(timesAt(239, [0, 1, 2, 3])).toHaveLength(MAX_SHOWN)
})

test('shows nothing before a bucket that is missing', () => {
  expect(timesAt(130, [1])).toHaveLength(120)
  expect(timesAt(130, [2]).at(0)).toBe(120)
  expect(timesAt(130, [])).toEqual([])
})

import { expect, test } from 'vitest'
import { chapterAt, timeOfDay } from './chapters.ts'

const chapters = [
  { startSeconds: 10, title: 'Intro' },
  { startSeconds: 60, title: 'Boss' },
]

test.each([
  [0, undefined],
  [9.9, undefined],
  [10, 'Intro'],
  [59.9, 'Intro'],
  [60, 'Boss'],
  [9999, 'Boss'],
])('at %d the chapter is %s', (seconds, title) => {
  expect(chapterAt(chapters, seconds)?.title).toBe(title)
})

test('has no chapter if there are none', () => {
  expect(chapterAt([], 10)).toBeUndefined()
})

test('shows the time of day in the zone of the visitor', () => {
  const start = new Date(2026, 0, 31, 21, 30)
  const expected = new Date(2026, 0, 31, 22, 45).toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
  })
  expect(timeOfDay(start.toISOString(), 75 * 60)).toBe(expected)
  expect(timeOfDay('not a time', 0)).toBeUndefined()
})

// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest'
import { canContinueAt, readWatched, readWatchedShares, saveWatched } from './watch-history.ts'

const session = { streamer: 'Zoë & co', date: '2026-01-31', sessionId: 'late night' }
const other = { ...session, sessionId: '7' }

beforeEach(() => localStorage.clear())

test('stores the position of each session in whole seconds', () => {
  saveWatched(session, { positionSeconds: 61.7, durationSeconds: 120.4 })
  saveWatched(other, { positionSeconds: 20, durationSeconds: 40 })
  saveWatched(session, { positionSeconds: 70, durationSeconds: 120 })
  expect(readWatched(session)).toEqual({ positionSeconds: 70, durationSeconds: 120 })
  expect(readWatched(other)).toEqual({ positionSeconds: 20, durationSeconds: 40 })
  expect(readWatched({ ...session, date: '2026-02-01' })).toBeUndefined()
})

test('does not replace the position when the session is only opened again', () => {
  saveWatched(session, { positionSeconds: 61, durationSeconds: 120 })
  saveWatched(session, { positionSeconds: 14.9, durationSeconds: 120 })
  expect(readWatched(session)?.positionSeconds).toBe(61)
})

test('evicts the least recently watched of more than two hundred sessions', () => {
  const numbered = (id: number) => ({ ...session, sessionId: String(id) })
  const watched = { positionSeconds: 60, durationSeconds: 120 }
  for (let id = 0; id < 200; id += 1) saveWatched(numbered(id), watched)
  saveWatched(numbered(0), watched)
  saveWatched(numbered(200), watched)
  expect([0, 1, 2, 200].map((id) => readWatched(numbered(id)) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ])
})

test.each([
  [14.9, 3600, false],
  [15, 3600, true],
  [3595, 3600, true],
  [3595.1, 3600, false],
  [3600, 3600, false],
  [15, 18, false],
  // The recording was replaced by a shorter one.
  [60, 30, false],
])('at %d of %d seconds there is something to continue: %s', (position, duration, expected) => {
  expect(canContinueAt(position, duration)).toBe(expected)
})

test('lists the share of each session that was watched in part', () => {
  saveWatched(session, { positionSeconds: 30, durationSeconds: 120 })
  saveWatched(other, { positionSeconds: 118, durationSeconds: 120 })
  expect([...readWatchedShares()]).toEqual([['Zo%C3%AB%20%26%20co/2026-01-31/late%20night', 0.25]])
})

test.each(['{', '7', '{}', '[["a"]]', '[["Zo%C3%AB%20%26%20co/2026-01-31/late%20night","1",2]]'])(
  'has no position if storage contains %s',
  (text) => {
    localStorage.setItem('aftercast.watched', text)
    expect(readWatched(session)).toBeUndefined()
  },
)

test('works without storage if the browser denies it', () => {
  const denied = (): Storage => {
    throw new DOMException('denied', 'SecurityError')
  }
  const watched = { positionSeconds: 60, durationSeconds: 120 }
  expect(() => saveWatched(session, watched, denied)).not.toThrow()
  expect(readWatched(session, denied)).toBeUndefined()
})

// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest'
import { addWatchedSpans, joinSpans, readWatchedSpans } from './watched-spans.ts'
import type { WatchedSpan } from './watched-spans.ts'

const session = { streamer: 'Alice', date: '2026-01-31', sessionId: '7' }

function spansOf(...pairs: [number, number][]): WatchedSpan[] {
  return pairs.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds }))
}

beforeEach(() => localStorage.clear())

test.each<[string, WatchedSpan[], WatchedSpan[]]>([
  ['nothing', [], []],
  ['an order', spansOf([30, 40], [0, 10]), spansOf([0, 10], [30, 40])],
  ['an overlap', spansOf([0, 20], [10, 30]), spansOf([0, 30])],
  ['one inside another', spansOf([0, 30], [10, 20]), spansOf([0, 30])],
  ['a small gap', spansOf([0, 10], [12, 20]), spansOf([0, 20])],
  ['a gap', spansOf([0, 10], [12.1, 20]), spansOf([0, 10], [12.1, 20])],
])('joins %s', (_, spans, joined) => {
  expect(joinSpans(spans)).toEqual(joined)
})

test('ignores more stored spans than it writes', () => {
  const pairs = Array.from({ length: 25 }, (_, at) => [at * 10, at * 10 + 5])
  localStorage.setItem('aftercast.spans', JSON.stringify([['Alice/2026-01-31/7', pairs]]))
  expect(readWatchedSpans(session)).toEqual([])
})

test('joins the closest of more than 24', () => {
  const spans = Array.from({ length: 40 }, (_, at) => ({
    startSeconds: at * 100,
    endSeconds: at * 100 + 50 + at,
  }))
  const joined = joinSpans(spans)
  expect(joined).toHaveLength(24)
  expect(joined[0]).toEqual(spans[0])
  expect(joined.at(-1)?.endSeconds).toBe(spans.at(-1)?.endSeconds)
})

test('adds to what earlier visits have watched, in whole seconds', () => {
  addWatchedSpans(session, spansOf([0, 10.4]))
  addWatchedSpans(session, spansOf([60.2, 70]))
  addWatchedSpans(session, [])
  expect(readWatchedSpans(session)).toEqual(spansOf([0, 11], [60, 70]))
  expect(readWatchedSpans({ ...session, sessionId: '8' })).toEqual([])
})

test('evicts the least recently watched of more than fifty sessions', () => {
  for (let id = 0; id <= 50; id += 1) {
    addWatchedSpans({ ...session, sessionId: String(id) }, spansOf([0, 10]))
  }
  expect(readWatchedSpans({ ...session, sessionId: '0' })).toEqual([])
  expect(readWatchedSpans({ ...session, sessionId: '1' })).toHaveLength(1)
})

test.each(['{', '7', '[["Alice/2026-01-31/7",[[1]]]]', '[["Alice/2026-01-31/7",[[1,"2"]]]]'])(
  'has no spans if storage contains %s',
  (text) => {
    localStorage.setItem('aftercast.spans', text)
    expect(readWatchedSpans(session)).toEqual([])
  },
)

test('works without storage if the browser denies it', () => {
  const denied = (): Storage => {
    throw new DOMException('denied', 'SecurityError')
  }
  expect(() => addWatchedSpans(session, spansOf([0, 10]), denied)).not.toThrow()
  expect(readWatchedSpans(session, denied)).toEqual([])
})

import { expect, test } from 'vitest'
import { formatDateTime, publishedMs } from './session-text.ts'

test.each([
  ['2026-01-31', '2026-01-31T00:00:00Z'],
  ['20260131', '2026-01-31T00:00:00Z'],
  ['2026_01_31', '2026-01-31T00:00:00Z'],
  ['2026-01-31 20-15', '2026-01-31T00:00:00Z'],
  ['2024-02-29', '2024-02-29T00:00:00Z'],
  ['2026-02-31', undefined],
  ['2026-1-3', undefined],
  ['202601311', undefined],
  ['live', undefined],
  ['', undefined],
])('a session of the date %j was published at %s', (date, expected) => {
  const timeMs = publishedMs({ date })
  expect(timeMs && formatDateTime(timeMs)).toBe(expected)
})

test('a known start takes precedence', () => {
  const startMs = Date.UTC(2026, 0, 31, 20, 15, 30, 999)
  expect(formatDateTime(publishedMs({ date: 'x', startMs }) ?? 0)).toBe('2026-01-31T20:15:30Z')
})

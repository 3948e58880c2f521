// When a recording began, as the names that recorders give say it.
import { expect, test } from 'vitest'
import { startTimeMs } from './start-time.ts'

const nothing = { date: '2026-01-31', sessionId: '1001', fileName: '1001' }
const local = (...rest: [number, number, number?, number?]) =>
  new Date(2026, 0, 31, ...rest).getTime()
const utc = (...rest: [number, number, number?, number?]) => Date.UTC(2026, 0, 31, ...rest)

test.each([
  ['2026-01-31_20-15-07', local(20, 15, 7)],
  ['2026-01-31 201507', local(20, 15, 7)],
  ['alice_2026-01-31_20-15', local(20, 15)],
  ['alice_20260131_201507_2', local(20, 15, 7)],
  ['[2026-01-31 20-15-07][host][room]', local(20, 15, 7)],
  ['label-23058-20260131-201507-123-title', local(20, 15, 7, 123)],
  ['2026-01-31_20-15-07-123456', local(20, 15, 7, 123)],
  ['alice_2026-01-31T20_15_07Z_42', utc(20, 15, 7)],
  ['2026-01-31T20:15:07.250Z', utc(20, 15, 7, 250)],
  ['2026-01-31T20:15:07+01:00', utc(19, 15, 7)],
  ['2026-01-31T20:15:07-05:00', Date.UTC(2026, 1, 1, 1, 15, 7)],
  ['2026-01-31-20:15', local(20, 15)],
  ['2026-01-31_20-15-07-0500', local(20, 15, 7, 50)],
  ['20260131T201507+0530', utc(14, 45, 7)],
  ['livestream.1769890507123', utc(20, 15, 7, 123)],
  ['1769890507123', utc(20, 15, 7, 123)],
  ['livestream.1769890507', utc(20, 15, 7)],
])('%s', (fileName, expected) => {
  expect(startTimeMs({ ...nothing, fileName })).toBe(expected)
})

test.each([
  '2026-01-31',
  '20260131',
  '2026-02-30_20-15-00',
  '2026-01-31_part1',
  '1769890507',
  'v1769890507',
  '91769890507123',
  '9999-01-31_20-15-00',
  '12026-01-31_20-15-00',
  '',
])('%s says no moment', (fileName) => {
  expect(startTimeMs({ ...nothing, fileName })).toBeUndefined()
})

test('the name of the file is believed before the session id, and that before the date', () => {
  const [date, sessionId, fileName] = [1, 2, 3].map((hour) => `2026-01-31_0${hour}-00-00`)
  if (date === undefined || sessionId === undefined || fileName === undefined) throw new Error()
  expect(startTimeMs({ date, sessionId, fileName })).toBe(local(3, 0))
  expect(startTimeMs({ date, sessionId, fileName: 'part1' })).toBe(local(2, 0))
  expect(startTimeMs({ date, sessionId: '7', fileName: 'part1' })).toBe(local(1, 0))
})

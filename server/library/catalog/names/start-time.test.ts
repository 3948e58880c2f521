// Start times in the name formats of recorders.
import fc from 'fast-check'
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
  ['alice_1769890507123', utc(20, 15, 7, 123)],
  ['alice-1769890507123', utc(20, 15, 7, 123)],
  ['20260131_20-15', local(20, 15)],
  ['20260131_20-15Z', utc(20, 15)],
  ['2026-01-31 show 2026-01-31_20-15-07', local(20, 15, 7)],
  ['1990-01-01_00-00-00Z', Date.UTC(1990, 0, 1)],
  ['2199-12-31_23-59-59Z', Date.UTC(2200, 0, 1) - 1000],
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
  '0099-01-31_20-15-00',
  '1989-12-31_23-59-59Z',
  '2200-01-01_00-00-00Z',
  '',
])('%s contains no time', (fileName) => {
  expect(startTimeMs({ ...nothing, fileName })).toBeUndefined()
})

test('the file name takes precedence over the session id, and that over the date', () => {
  const [date, sessionId, fileName] = [1, 2, 3].map((hour) => `2026-01-31_0${hour}-00-00`)
  if (date === undefined || sessionId === undefined || fileName === undefined) throw new Error()
  expect(startTimeMs({ date, sessionId, fileName })).toBe(local(3, 0))
  expect(startTimeMs({ date, sessionId, fileName: 'part1' })).toBe(local(2, 0))
  expect(startTimeMs({ date, sessionId: '7', fileName: 'part1' })).toBe(local(1, 0))
})

test('parses a time in every format that recorders write', () => {
  const moment = fc.date({
    min: new Date('1991-01-01'),
    max: new Date('2199-12-30'),
    noInvalidDate: true,
  })
  const one = (...options: string[]) => fc.constantFrom(...options)
  const shape = fc.tuple(one('-', '_', '.', ''), one('_', '-', 'T', ' '), one('-', '_', '.', ''))
  const around = fc.tuple(one('', 'alice_', '[', 'x-23058-'), one('', '_2', ']', '-title', ' part'))
  fc.assert(
    fc.property(moment, shape, around, (time, [day, leader, clock], [before, after]) => {
      const [date = '', rest = ''] = time.toISOString().split('T')
      const written =
        date.replaceAll('-', day) + leader + rest.slice(0, 8).replaceAll(':', clock) + 'Z'
      const wholeSeconds = Math.floor(time.getTime() / 1000) * 1000
      const fileName = before + written + after
      expect(startTimeMs({ ...nothing, fileName }), fileName).toBe(wholeSeconds)
    }),
  )
})

test('any string yields a plausible time or none, without delay', () => {
  const text = fc.string({
    unit: fc.constantFrom(...'0123456789-_.:TZ+ a'.split('')),
    maxLength: 255,
  })
  fc.assert(
    fc.property(text, (fileName) => {
      const found = startTimeMs({ ...nothing, fileName })
      expect(found === undefined || (found > 0 && found < Date.UTC(2201, 0, 1))).toBe(true)
    }),
    { numRuns: 3000 },
  )
})

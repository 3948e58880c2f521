import { expect, test } from 'vitest'
import { dateEnds } from './date-name.ts'

const DAY = '2026-01-31'
const MINUTE = `${DAY}_20-15`
const SECOND = `${MINUTE}-00`

/** The dates at the start of a text, the longest first. */
function datesIn(text: string): string[] {
  return dateEnds(text, 0).map((end) => text.slice(0, end))
}

test.each([DAY, '2026_12_01', '2026.01.31', '20260131', '1000000000000', '1769890500123'])(
  'finds %s',
  (text) => {
    expect(datesIn(text)).toEqual([text])
    expect(datesIn(`${text}x`)).toEqual([text])
    expect(dateEnds(`x${text}`, 1)).toEqual([text.length + 1])
  },
)

test.each([
  '',
  '2026',
  '2026-01',
  '202x-01-31',
  '2026-0x-31',
  '2026-01-3x',
  '2026-01-3:',
  '2026-01_31',
  '2026-00-31',
  '2026-13-31',
  '2026-01-00',
  '2026-01-32',
  '0999999999999',
  '176989050012',
  '176989050012x',
  '10000000000000',
])('finds no date in "%s"', (text) => {
  expect(datesIn(text)).toEqual([])
})

test.each([
  [`${DAY}_20-15-00`, [SECOND, MINUTE, DAY]],
  [`${DAY}T20:15:00`, [`${DAY}T20:15:00`, `${DAY}T20:15`, DAY]],
  ['20260131-201500', ['20260131-201500', '20260131']],
  [`${DAY}_23-59-60`, [`${DAY}_23-59-60`, `${DAY}_23-59`, DAY]],
  [`${DAY}_23-59-61`, [`${DAY}_23-59`, DAY]],
  [`${DAY}_20-15-0x`, [MINUTE, DAY]],
  [`${DAY}_20-15_00`, [MINUTE, DAY]],
  // Four digits alone are as likely an id.
  [`${DAY}_2015`, [DAY]],
  [`${DAY}_24-00-00`, [DAY]],
  [`${DAY}_20-60-00`, [DAY]],
  [`${DAY}_2x-15-00`, [DAY]],
  [`${DAY}_20-1x-00`, [DAY]],
  [`${DAY}x20-15-00`, [DAY]],
] as const)('finds the day and the times in "%s"', (text, dates) => {
  expect(datesIn(text)).toEqual(dates)
})

test.each(['.123', '.123456', '-1234', 'Z', '+0100', '+01:00', '-05:00', '.123Z'])(
  'finds a time that ends with "%s"',
  (end) => {
    expect(datesIn(SECOND + end)[0]).toBe(SECOND + end)
  },
)

test.each(['.12', '.1234567', '.', '+01', '+0x00', '+01:0x', '+01x00', '-05', '~0100'])(
  'finds no longer time before "%s"',
  (end) => {
    expect(datesIn(SECOND + end)[0]).toBe(SECOND)
  },
)

import { expect, test } from 'vitest'
import { splitAtTimeCodes } from './time-codes.ts'

test('splits a description at the time codes within the session', () => {
  expect(splitAtTimeCodes('0:06 Shop\n1:02:03 Boss, 9:59:59 never', 4000)).toEqual([
    { text: '0:06', seconds: 6 },
    { text: ' Shop\n' },
    { text: '1:02:03', seconds: 3723 },
    { text: ' Boss, 9:59:59 never' },
  ])
})

test.each(['', 'no code', '12:345', '1:2:3:4', '10:75', '2026-01-31T10:00:00:00', '16:9'])(
  'finds none in %j',
  (text) => {
    expect(splitAtTimeCodes(text, 100_000).some(({ seconds }) => seconds !== undefined)).toBe(false)
  },
)

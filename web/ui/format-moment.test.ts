import { expect, test } from 'vitest'
import { formatMoment } from './format-moment.ts'

test.each([
  [0, '0:00:00'],
  [59.99, '0:00:59'],
  [3723, '1:02:03'],
  [36_000, '10:00:00'],
  [-1, '0:00:00'],
])('%d seconds are shown as %s', (seconds, text) => {
  expect(formatMoment(seconds)).toBe(text)
})

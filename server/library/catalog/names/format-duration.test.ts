import { expect, test } from 'vitest'
import { formatDuration } from './format-duration.ts'

test.each([
  [0, '0:00:00'],
  [245.2, '0:04:05'],
  [59.5, '0:01:00'],
  [3599.4, '0:59:59'],
  [3600, '1:00:00'],
  [90_061, '25:01:01'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
})

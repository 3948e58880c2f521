import { expect, test } from 'vitest'
import { parseTypedMoment } from './typed-moment.ts'

test.each([
  ['1:02:03', 3723],
  [' 2:03 ', 123],
  ['65:00', 3900],
  ['0:00:00', 0],
  ['123', 123],
  ['1h2m3s', 3723],
  ['', undefined],
  ['soon', undefined],
  ['1:', undefined],
  ['1:2:3:4', undefined],
  ['-1:00', undefined],
])('reads %j as %s', (text, seconds) => {
  expect(parseTypedMoment(text)).toBe(seconds)
})

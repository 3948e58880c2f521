import { expect, test } from 'vitest'
import { initials } from './streamer-card.tsx'

test.each([
  ['alice', 'AL'],
  ['x', 'X'],
  ['', ''],
  ['東京ナイト', '東京'],
  ['😀😃 fun', '😀😃'],
  ['a😀b', 'A😀'],
])('%j is shown as %j', (name, letters) => {
  expect(initials(name)).toBe(letters)
})

import { expect, test } from 'vitest'
import { insertBlocks } from './insert-blocks.ts'

test.each([
  [0, ''],
  [1, '0'],
  [2, '0 1'],
  [3, '0 1 ad2 2'],
  [4, '0 1 ad2 2 3'],
  [5, '0 1 ad2 2 3 ad4 4'],
  [6, '0 1 ad2 2 3 ad4 4 5'],
  [7, '0 1 ad2 2 3 ad4 4 5 ad6 6'],
])('puts a block before every second of %i cards, from the third on', (count, expected) => {
  const cards = Array.from({ length: count }, (_, position) => `${position}`)
  expect(insertBlocks(cards, (position) => `ad${position}`).join(' ')).toBe(expected)
})

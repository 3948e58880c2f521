import { expect, test } from 'vitest'
import { insertBlocks } from './use-cards-with-ads.tsx'

test.each([
  [0, ''],
  [1, '0'],
  [2, '0 1'],
  [3, '0 1 2 ad2'],
  [4, '0 1 2 ad2 3'],
  [5, '0 1 2 ad2 3 4 ad4'],
  [6, '0 1 2 ad2 3 4 ad4 5'],
  [7, '0 1 2 ad2 3 4 ad4 5 6 ad6'],
])(
  'inserts a block after the third of %i cards, and after every second from there',
  (count, list) => {
    const cards = Array.from({ length: count }, (_, index) => `${index}`)
    expect(insertBlocks(cards, (cardIndex) => `ad${cardIndex}`).join(' ')).toBe(list)
  },
)

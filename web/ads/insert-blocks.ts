// Where ad blocks stand among cards.

const FIRST_POSITION = 2

/** Puts `createBlock(position)` before every card at position 2, 4, 6, … (counted from 0). */
export function insertBlocks<T>(cards: readonly T[], createBlock: (position: number) => T): T[] {
  return cards.flatMap((card, position) =>
    position >= FIRST_POSITION && position % 2 === 0 ? [createBlock(position), card] : [card],
  )
}

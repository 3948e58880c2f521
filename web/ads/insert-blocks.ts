// Positions of ad blocks in a list of cards.

const FIRST_CARD_INDEX = 2

/** Inserts `createBlock(index)` directly after the cards with index 2, 4, 6, … (zero-based). */
export function insertBlocks<T>(cards: readonly T[], createBlock: (cardIndex: number) => T): T[] {
  return cards.flatMap((card, index) =>
    index >= FIRST_CARD_INDEX && index % 2 === 0 ? [card, createBlock(index)] : [card],
  )
}

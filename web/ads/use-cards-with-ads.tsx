// Inserts ad blocks between the cards of a list.
import type { ReactElement } from 'react'
import { ListAd } from './ad-block.tsx'
import { useAdRoom, useAdSlots } from './ads-provider.tsx'
import type { ListSlotName } from './slots/slot-engine.ts'

/**
 * The cards with an ad block after every second one, from the third; without ads, the cards alone.
 */
export function useCardsWithAds(slotName: ListSlotName, cards: ReactElement[]): ReactElement[] {
  const slots = useAdSlots()
  const room = useAdRoom()
  if (room !== 'everywhere' || !slots?.hasZone(slotName)) return cards
  // The key is stable while the list grows or is searched, so filled blocks are not re-created.
  return insertBlocks(cards, (cardIndex) => (
    <ListAd key={`ad-${cardIndex}`} slots={slots} slotName={slotName} cardIndex={cardIndex} />
  ))
}

const FIRST_CARD_INDEX = 2

/** Inserts `createBlock(index)` directly after the cards with index 2, 4, 6, … (zero-based). */
export function insertBlocks<T>(cards: readonly T[], createBlock: (cardIndex: number) => T): T[] {
  return cards.flatMap((card, index) =>
    index >= FIRST_CARD_INDEX && index % 2 === 0 ? [card, createBlock(index)] : [card],
  )
}

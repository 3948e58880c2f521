// Puts ad blocks between the cards of a list.
import type { ReactElement } from 'react'
import { ListAd } from './ad-block.tsx'
import type { ListPlace } from './ad-slots.ts'
import { useAdSlots } from './ads-provider.tsx'
import { insertBlocks } from './insert-blocks.ts'

/** The cards with an ad block after every second one, from the third; without ads, the cards alone. */
export function useCardsWithAds(place: ListPlace, cards: ReactElement[]): ReactElement[] {
  const slots = useAdSlots()
  if (!slots?.hasZone(place)) return cards
  // The key holds while the list grows or is searched, so that no filled block is made anew.
  return insertBlocks(cards, (position) => (
    <ListAd key={`ad-${position}`} slots={slots} place={place} position={position} />
  ))
}

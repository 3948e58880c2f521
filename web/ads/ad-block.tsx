// One ad block, in the layout or in a list.
import { memo, useEffect, useRef } from 'react'
import type { RefObject } from 'react'
import { translate } from '../language/translate.ts'
import type { AdSlots } from './ad-slots.ts'
import { useAdRoom, useAdSlots } from './ads-provider.tsx'
import type { LayoutSlotName, ListSlotName, SlotName } from './slots/slot-engine.ts'
import styles from './ad-block.module.css'

/**
 * The space of a layout slot. It stays when its block is hidden; there is none without ads, and if
 * they are blocked.
 */
export function LayoutAd({ slotName }: { slotName: LayoutSlotName }) {
  const slots = useAdSlots()
  const room = useAdRoom()
  if (room === 'none' || (room === 'header' && slotName !== 'header')) return null
  return (
    <div className={`${styles.space} ${slotName === 'header' ? 'site-banner' : styles[slotName]}`}>
      {slots?.hasZone(slotName) && <LayoutBlock slots={slots} slotName={slotName} />}
    </div>
  )
}

function LayoutBlock({ slots, slotName }: { slots: AdSlots; slotName: LayoutSlotName }) {
  const hostRef = useAdHost(slots, slotName, 0)
  return (
    <aside
      className={styles.block}
      data-ad-block={slotName}
      aria-label={`${translate('Advertisement')}: ${translate(slotName)}`}
    >
      <p className={styles.label}>{translate('Advertisement')}</p>
      <div ref={hostRef} className={styles.host} />
    </aside>
  )
}

interface ListAdProps {
  slots: AdSlots
  slotName: ListSlotName
  /** Index of the card before it. */
  cardIndex: number
}

/** Memoised like the cards: a search re-renders lists of thousands. */
export const ListAd = memo(function ListAd({ slots, slotName, cardIndex }: ListAdProps) {
  const hostRef = useAdHost(slots, slotName, cardIndex)
  return (
    <li className={styles.entry}>
      <div className={styles.block} data-ad-block={slotName}>
        <p className={styles.label}>{translate('Advertisement')}</p>
        <div ref={hostRef} className={styles.host} />
      </div>
    </li>
  )
})

/** React renders nothing into the host: its content belongs to the ad script. */
function useAdHost(
  slots: AdSlots,
  slotName: SlotName,
  cardIndex: number,
): RefObject<HTMLDivElement | null> {
  const hostRef = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const host = hostRef.current
    const block = host?.closest<HTMLElement>('[data-ad-block]')
    return host && block ? slots.addBlock({ block, host, slotName, cardIndex }) : undefined
  }, [slots, slotName, cardIndex])
  return hostRef
}

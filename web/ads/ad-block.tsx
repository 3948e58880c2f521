// One ad block: a place in the layout, or an entry of a list.
import { memo, useEffect, useRef } from 'react'
import type { RefObject } from 'react'
import type { AdSlots, LayoutPlace, ListPlace } from './ad-slots.ts'
import { useAdSlots } from './ads-provider.tsx'
import styles from './ad-block.module.css'

const LABEL = 'Advertisement'

/** The room of a place in the layout, which stays when its block is hidden; none where there are no ads. */
export function LayoutAd({ place }: { place: LayoutPlace }) {
  const slots = useAdSlots()
  return (
    <div className={`${styles.room} ${styles[place]}`}>
      {slots?.hasZone(place) && <LayoutBlock slots={slots} place={place} />}
    </div>
  )
}

function LayoutBlock({ slots, place }: { slots: AdSlots; place: LayoutPlace }) {
  const hostRef = useAdHost(slots, place, 0)
  // Header and footer are landmarks already; what stands beside the page is one of its own.
  const Block = place === 'sidebar' ? 'aside' : 'div'
  return (
    <Block
      className={styles.block}
      data-ad-block={place}
      aria-label={place === 'sidebar' ? LABEL : undefined}
    >
      <p className={styles.label}>{LABEL}</p>
      <div ref={hostRef} className={styles.host} />
    </Block>
  )
}

interface ListAdProps {
  slots: AdSlots
  place: ListPlace
  /** Index of the card before it. */
  position: number
}

/** Memoised as the cards are: thousands stand in a list that is searched. */
export const ListAd = memo(function ListAd({ slots, place, position }: ListAdProps) {
  const hostRef = useAdHost(slots, place, position)
  return (
    <li className={styles.entry}>
      <div className={styles.block} data-ad-block={place}>
        <p className={styles.label}>{LABEL}</p>
        <div ref={hostRef} className={styles.host} />
      </div>
    </li>
  )
})

/** The host is empty for React: what is in it belongs to the ad script. */
function useAdHost(
  slots: AdSlots,
  place: LayoutPlace | ListPlace,
  position: number,
): RefObject<HTMLDivElement | null> {
  const hostRef = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const host = hostRef.current
    const block = host?.closest<HTMLElement>('[data-ad-block]')
    return host && block ? slots.addBlock({ block, host, place, position }) : undefined
  }, [slots, place, position])
  return hostRef
}

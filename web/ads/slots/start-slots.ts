// The slot engine of a visit: inserts placeholders, serves them, and renews those of the layout.
import { watchNearby } from './nearby.ts'
import type { Nearby } from './nearby.ts'
import { createServing } from './serving.ts'
import { createSlot } from './slot.ts'
import type { Slot } from './slot.ts'
import type { AdBlockElements, SlotEngine, SlotSettings } from './slot-engine.ts'

/**
 * Blocks after a card with this index or a higher one are filled when they come near the viewport.
 */
const LAZY_FROM_INDEX = 100

export function startSlots(settings: SlotSettings): SlotEngine {
  const serving = createServing()
  const allSlots = new Set<Slot>()
  const layoutSlots = new Set<Slot>()
  let nearby: Nearby | undefined
  let isFirstRoute = true

  return {
    addBlock(elements, renderedAtMs) {
      const zone = settings.zones[elements.slotName]
      if (zone === undefined) return () => undefined
      const slot = createSlot(elements, { ...settings, zone })
      allSlots.add(slot)
      const stop = start(slot, elements, renderedAtMs)
      return () => {
        allSlots.delete(slot)
        stop()
      }
    },
    hideUnfilled() {
      for (const slot of allSlots) slot.hideUnfilled()
    },
    afterList: () => serving.afterList(),
    afterRoute() {
      if (!isFirstRoute) for (const slot of layoutSlots) slot.renew()
      isFirstRoute = false
      return serving.afterRoute()
    },
  }

  function start(slot: Slot, elements: AdBlockElements, renderedAtMs: number): () => void {
    if (isInLayout(elements)) return addToLayout(slot, renderedAtMs)
    if (elements.cardIndex < LAZY_FROM_INDEX) return addToList(slot, renderedAtMs)
    nearby ??= watchNearby()
    const unwatch = nearby.once(elements.block, () => void addToList(slot, performance.now()))
    return () => {
      unwatch()
      slot.dispose()
    }
  }

  /** `afterRoute` serves it. */
  function addToLayout(slot: Slot, renderedAtMs: number): () => void {
    layoutSlots.add(slot)
    slot.fill(renderedAtMs)
    return () => {
      layoutSlots.delete(slot)
      slot.dispose()
    }
  }

  function addToList(slot: Slot, renderedAtMs: number): () => void {
    slot.fill(renderedAtMs)
    serving.afterBlock()
    return () => slot.dispose()
  }
}

function isInLayout({ slotName }: AdBlockElements): boolean {
  return slotName !== 'list' && slotName !== 'recommended'
}

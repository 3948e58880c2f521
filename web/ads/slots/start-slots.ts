// The slot engine of a visit: inserts placeholders, serves them, and renews those of the layout.
import { injectAdScript } from './ad-script.ts'
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
  const layoutSlots = new Set<Slot>()
  let nearby: Nearby | undefined
  let isFirstRoute = true

  return {
    addBlock(elements, renderedAtMs) {
      const zone = settings.zones[elements.slotName]
      if (zone === undefined) return () => undefined
      injectAdScript(settings.scriptUrl)
      const slot = createSlot(elements, { ...settings, zone })
      if (isInLayout(elements)) return addToLayout(slot, renderedAtMs)
      if (elements.cardIndex < LAZY_FROM_INDEX) return addToList(slot, renderedAtMs)
      nearby ??= watchNearby()
      const unwatch = nearby.once(elements.block, () => void addToList(slot, performance.now()))
      return () => {
        unwatch()
        slot.dispose()
      }
    },
    afterList: () => serving.afterList(),
    afterRoute() {
      if (!isFirstRoute) for (const slot of layoutSlots) slot.renew()
      isFirstRoute = false
      return serving.afterRoute()
    },
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

// Runs the banner slots of a visit: when they get their placeholder, when they are served, when they are filled anew.
import type { AdBlockElements, SlotEngine, SlotSettings } from '../ad-slots.ts'
import { injectAdScript } from './ad-script.ts'
import { watchNearby } from './nearby.ts'
import type { Nearby } from './nearby.ts'
import { createServing } from './serving.ts'
import { createSlot } from './slot.ts'
import type { Slot } from './slot.ts'

/** Blocks after a card with this index or a higher one are filled when they come near the screen. */
const SERVED_AT_ONCE = 100

export function startSlots(settings: SlotSettings): SlotEngine {
  const serving = createServing()
  const layoutSlots = new Set<Slot>()
  let nearby: Nearby | undefined
  let isFirstRoute = true

  return {
    addBlock(elements, renderedAtMs) {
      const zone = settings.zones[elements.place]
      if (zone === undefined) return () => undefined
      injectAdScript(settings.scriptUrl)
      const slot = createSlot(elements, { ...settings, zone })
      if (isInLayout(elements)) return addToLayout(slot, renderedAtMs)
      if (elements.position < SERVED_AT_ONCE) return addToList(slot, renderedAtMs)
      nearby ??= watchNearby()
      const ignore = nearby.once(elements.block, () => void addToList(slot, performance.now()))
      return () => {
        ignore()
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

  /** Served with the route. */
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

function isInLayout({ place }: AdBlockElements): boolean {
  return place !== 'list' && place !== 'recommended'
}

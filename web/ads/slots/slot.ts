// One ad block: the placeholder in its host, and whether it is shown.
import type { AdBlockElements, SlotSettings } from '../ad-slots.ts'
import { hideUnfilled } from './hide-unfilled.ts'
import { isFilled } from './is-filled.ts'

export interface Slot {
  /** Shows the block with a new placeholder. `sinceMs` (`performance.now()`): when its time to be filled began. */
  fill(sinceMs: number): void
  /** Shows the block again; a new placeholder only where it is empty, for a replaced ad is often not replaced again. */
  renew(): void
  /** Leaves the host empty. */
  dispose(): void
}

type SlotOptions = Pick<SlotSettings, 'insClass' | 'fill'> & { zone: string }

export function createSlot(elements: AdBlockElements, options: SlotOptions): Slot {
  const { block, host } = elements
  let stopWatching = () => {}

  function fill(sinceMs: number): void {
    stopWatching()
    host.replaceChildren(createPlaceholder(options))
    block.hidden = false
    stopWatching = hideUnfilled(block, options.fill, sinceMs)
  }

  return {
    fill,
    renew() {
      block.hidden = false
      if (!isFilled(block, options.fill)) fill(performance.now())
    },
    dispose() {
      stopWatching()
      host.replaceChildren()
    },
  }
}

/** Nothing of ours but class and zone: the ad script reads the class from its start and sends every other `data-` away. */
function createPlaceholder({ insClass, zone }: SlotOptions): HTMLElement {
  const placeholder = document.createElement('ins')
  placeholder.className = insClass
  placeholder.dataset['zoneid'] = zone
  return placeholder
}

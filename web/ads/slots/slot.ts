// One ad slot: the placeholder in its host, and the visibility of its block.
import { isFilled } from './is-filled.ts'
import type { AdBlockElements, SlotSettings } from './slot-engine.ts'

export interface Slot {
  /**
   * Shows the block with a new placeholder. It has 5 s from `sinceMs` (`performance.now()`) to be
   * filled.
   */
  fill(sinceMs: number): void
  /**
   * Shows the block again. Only an empty one gets a new placeholder: the provider may have no
   * second ad.
   */
  renew(): void
  /** Hides the block now if it is empty. */
  hideUnfilled(): void
  /** Empties the host. */
  dispose(): void
}

type SlotOptions = Pick<SlotSettings, 'insClass' | 'fill'> & { zone: string }

export function createSlot(elements: AdBlockElements, options: SlotOptions): Slot {
  const { block, host } = elements
  let cancelHide = () => {}

  function fill(sinceMs: number): void {
    cancelHide()
    host.replaceChildren(createPlaceholder(options))
    block.hidden = false
    cancelHide = hideLater(block, options.fill, sinceMs)
  }

  return {
    fill,
    renew() {
      block.hidden = false
      if (!isFilled(block, options.fill)) fill(performance.now())
    },
    hideUnfilled() {
      cancelHide()
      hideUnfilled(block, options.fill)
    },
    dispose() {
      cancelHide()
      host.replaceChildren()
    },
  }
}

/**
 * Class and zone only: the script matches the start of `class` and sends all other `data-`
 * attributes to its server.
 */
function createPlaceholder({ insClass, zone }: SlotOptions): HTMLElement {
  const placeholder = document.createElement('ins')
  placeholder.className = insClass
  placeholder.dataset['zoneid'] = zone
  return placeholder
}

const HIDE_AFTER_MS = 5000

/** Checks once, `HIDE_AFTER_MS` after `sinceMs` (`performance.now()`). Returns the undo. */
function hideLater(block: HTMLElement, fill: SlotSettings['fill'], sinceMs: number): () => void {
  const check = () => hideUnfilled(block, fill)
  const timer = setTimeout(check, sinceMs + HIDE_AFTER_MS - performance.now())
  return () => clearTimeout(timer)
}

/** Hides the block unless it contains an ad. */
function hideUnfilled(block: HTMLElement, fill: SlotSettings['fill']): void {
  if (isFilled(block, fill)) return
  // What is after a collapsed block moves. Below the viewport and in a hidden tab nobody sees that.
  if (block.getBoundingClientRect().top < window.innerHeight && !document.hidden) {
    block.dataset['space'] = 'reserved'
    const release = () => delete block.dataset['space']
    document.addEventListener('visibilitychange', release, { once: true })
  }
  block.hidden = true
}

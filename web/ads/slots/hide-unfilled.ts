// Hides an ad block that stays empty, without a layout shift in the viewport.
import { isFilled } from './is-filled.ts'
import type { SlotSettings } from './slot-engine.ts'

const HIDE_AFTER_MS = 5000

/** Checks once, `HIDE_AFTER_MS` after `sinceMs` (`performance.now()`). Returns the undo. */
export function hideLater(
  block: HTMLElement,
  fill: SlotSettings['fill'],
  sinceMs: number,
): () => void {
  const check = () => hideUnfilled(block, fill)
  const timer = setTimeout(check, sinceMs + HIDE_AFTER_MS - performance.now())
  return () => clearTimeout(timer)
}

/** Hides the block unless it contains an ad. */
export function hideUnfilled(block: HTMLElement, fill: SlotSettings['fill']): void {
  if (isFilled(block, fill)) return
  // What is after a collapsed block moves. Below the viewport and in a hidden tab nobody sees that.
  if (block.getBoundingClientRect().top < window.innerHeight && !document.hidden) {
    block.dataset['space'] = 'reserved'
    const release = () => delete block.dataset['space']
    document.addEventListener('visibilitychange', release, { once: true })
  }
  block.hidden = true
}

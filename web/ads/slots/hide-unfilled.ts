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
  // Cards after a collapsed block move up. Below the viewport nobody sees that.
  if (block.getBoundingClientRect().top < window.innerHeight) block.dataset['space'] = 'reserved'
  block.hidden = true
}

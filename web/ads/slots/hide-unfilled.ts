// Hides an ad block that stays empty, without moving what a visitor sees.
import type { SlotSettings } from '../ad-slots.ts'
import { isFilled } from './is-filled.ts'

/** How long a block may stay empty. */
const HIDE_AFTER_MS = 5000

/** Looks once, `HIDE_AFTER_MS` after `sinceMs` (`performance.now()`). Answers the undo. */
export function hideUnfilled(
  block: HTMLElement,
  fill: SlotSettings['fill'],
  sinceMs: number,
): () => void {
  const look = () => {
    if (isFilled(block, fill)) return
    // Only what stands below moves up into the place: below the window nobody sees it.
    if (block.getBoundingClientRect().top < window.innerHeight) block.dataset['place'] = 'kept'
    block.hidden = true
  }
  const timer = setTimeout(look, sinceMs + HIDE_AFTER_MS - performance.now())
  return () => clearTimeout(timer)
}

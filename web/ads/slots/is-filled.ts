// Tells whether an ad has come into a block.
import type { SlotSettings } from '../ad-slots.ts'

const CREATIVES = 'iframe, img, video, canvas, object'
/** Smaller ones, in CSS pixels, are trackers. */
const SMALLEST_CREATIVE_PX = 20

/** `frame`: an embedded frame anywhere in the block; `creative`: a frame, picture, video, canvas or object that can be seen. */
export function isFilled(block: HTMLElement, fill: SlotSettings['fill']): boolean {
  if (fill === 'frame') return block.querySelector('iframe') !== null
  return Array.from(block.querySelectorAll(CREATIVES)).some((creative) => {
    const { width, height } = creative.getBoundingClientRect()
    return Math.min(width, height) >= SMALLEST_CREATIVE_PX
  })
}

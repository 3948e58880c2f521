// Whether a block contains an ad.
import type { SlotSettings } from './slot-engine.ts'

const CREATIVES = 'iframe, img, video, canvas, object'
/** In CSS pixels; smaller elements are tracking pixels. */
const MIN_CREATIVE_PX = 20

/**
 * `frame`: any iframe counts; `creative`: any iframe, image, video, canvas or object of a visible
 * size.
 */
export function isFilled(block: HTMLElement, fill: SlotSettings['fill']): boolean {
  if (fill === 'frame') return block.querySelector('iframe') !== null
  return Array.from(block.querySelectorAll(CREATIVES)).some((creative) => {
    const { width, height } = creative.getBoundingClientRect()
    return Math.min(width, height) >= MIN_CREATIVE_PX
  })
}

// Chooses the frames of a rendition, of which there are at most thirty per second. Pure.

const MAX_FRAMES_PER_SECOND = 30
/** Containers round times to a millisecond, so two frames can be this much closer. */
const ROUNDING_SECONDS = 0.0015

/** Whether the frame at `ticks` is in a rendition whose frame before it is at `lastTicks`. */
export function isPicked(ticks: number, lastTicks: number | undefined, timescale: number): boolean {
  const distance = 1 / MAX_FRAMES_PER_SECOND - ROUNDING_SECONDS
  return lastTicks === undefined || ticks - lastTicks >= distance * timescale
}

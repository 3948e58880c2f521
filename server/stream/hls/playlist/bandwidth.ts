// Bits per second of segments, measured from their sizes. Pure.
import { secondsFromTicks } from '../../../media/media-index.ts'
import type { SegmentPlan } from './segment-plan.ts'

/** Bits per second of segments. */
export interface Bandwidth {
  peak: number
  average: number
}

/** Number of measured segments, spread over the recording. */
const SAMPLES = 32
/** Margin for segments that were not measured. */
const MARGIN = 1.25
/** The last segment may have a single frame. */
const MIN_SECONDS = 0.5

/**
 * Peak and mean of the segments' bit rates (RFC 8216 4.3.4.2).
 *
 * @param sizeOf returns the bytes of a segment
 */
export async function measureBandwidth(
  { segments, timescale }: SegmentPlan,
  sizeOf: (segmentNumber: number) => Promise<number>,
): Promise<Bandwidth> {
  const step = Math.max(1, segments.length / SAMPLES)
  let peak = 1
  let bits = 0
  let seconds = 0
  for (let at = 0; at < segments.length; at += step) {
    const number = Math.floor(at)
    const { startTicks = 0, endTicks = 0 } = segments[number] ?? {}
    const length = Math.max(secondsFromTicks(endTicks - startTicks, timescale), MIN_SECONDS)
    const sizeBits = (await sizeOf(number)) * 8
    bits += sizeBits
    seconds += length
    peak = Math.max(peak, sizeBits / length)
  }
  return { peak: step > 1 ? peak * MARGIN : peak, average: seconds > 0 ? bits / seconds : peak }
}

/** The bandwidth with more bits per second. */
export function addBits({ peak, average }: Bandwidth, bits: number): Bandwidth {
  return { peak: peak + bits, average: average + bits }
}

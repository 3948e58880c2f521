// How many bits a second segments take, measured from their sizes. Pure.
import { secondsFromTicks } from '../../media/media-index.ts'
import type { SegmentPlan } from './segment-plan.ts'

/** Bits per second of segments. */
export interface Bandwidth {
  peak: number
  average: number
}

/** Segments that are measured, spread over the recording. */
const SAMPLES = 32
/** What those that were not measured may take beyond. */
const RESERVE = 1.25
/** The last segment may be a single picture. */
const LEAST_SECONDS = 0.5

/** Peak and mean of the segments' bit rates (RFC 8216 4.3.4.2); `sizeOf` answers a segment's bytes. */
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
    const length = Math.max(secondsFromTicks(endTicks - startTicks, timescale), LEAST_SECONDS)
    const sizeBits = (await sizeOf(number)) * 8
    bits += sizeBits
    seconds += length
    peak = Math.max(peak, sizeBits / length)
  }
  return { peak: step > 1 ? peak * RESERVE : peak, average: seconds > 0 ? bits / seconds : peak }
}

/** A bandwidth with so many bits per second more. */
export function addBits({ peak, average }: Bandwidth, bits: number): Bandwidth {
  return { peak: peak + bits, average: average + bits }
}

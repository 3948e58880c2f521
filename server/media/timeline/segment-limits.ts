// Bounds the cost of a segment: where one must start, and what is too large for any.
import { checkLimit, limitExceeded } from '../../base/errors.ts'
import {
  MAX_LIMITATIONS,
  SPLIT_REQUIRED,
  SPLIT_UNREADABLE,
  secondsFromTicks,
} from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'

/**
 * Samples of one segment: a quarter of an hour without a key frame. Where it would have more, the
 * next one starts at any split point.
 */
export const MAX_SEGMENT_SAMPLES = 100_000
/** This many samples of PCM, which are joined to packets, cost as much as one other sample. */
export const PCM_SAMPLES_PER_COST = 16
/** Samples between two split points: more than an hour of audio beside a single frame. */
export const MAX_SPLIT_POINT_SAMPLES = 250_000

/** Samples that are processed without a turn of the event loop. */
export const SAMPLES_PER_TURN = 10_000

/** How many samples precede each split point, and how many there are in all. */
export interface SampleCounts {
  before: ArrayLike<number>
  total: number
}

/**
 * The index with SPLIT_REQUIRED and SPLIT_UNREADABLE where the number of samples demands it. The
 * flags of a split point depend on nothing after the next one.
 *
 * @throws UnplayableError if nothing is left to play
 */
export function withSegmentLimits(index: MediaIndex, counts: SampleCounts): MediaIndex {
  const { splitPoints, limitations = [] } = index
  const flags = splitPoints.flags.slice()
  const excess = markLimits(flags, counts)
  if (flags.length > 0 && flags.every((each) => (each & SPLIT_UNREADABLE) !== 0)) {
    throw limitExceeded('samples-between-key-frames', MAX_SPLIT_POINT_SAMPLES)
  }
  const limited = { ...index, splitPoints: { ...splitPoints, flags } }
  if (excess.samples === 0) return limited
  const seconds = secondsFromTicks(
    splitPoints.startTicks[excess.splitPoint] ?? 0,
    splitPoints.timescale,
  )
  const limitation = { code: 'samples-unreadable', samples: excess.samples, seconds } as const
  return { ...limited, limitations: [...limitations, limitation].slice(-MAX_LIMITATIONS) }
}

/** Throws if more samples are read than the index allows. */
export function checkSegmentSamples(count: number): void {
  checkLimit('samples-between-key-frames', MAX_SPLIT_POINT_SAMPLES, count)
}

/** Sets the flags; returns the number of unreadable samples, and the split point of the first. */
function markLimits(
  flags: Uint8Array,
  { before, total }: SampleCounts,
): { samples: number; splitPoint: number } {
  const excess = { samples: 0, splitPoint: 0 }
  let first = 0
  let isAfterExcess = false
  for (let at = 0; at < flags.length; at += 1) {
    const end = before[at + 1] ?? total
    const samples = end - (before[at] ?? total)
    const isFull = end - (before[first] ?? total) > MAX_SEGMENT_SAMPLES
    if (at > 0 && (isFull || isAfterExcess)) {
      flags[at] = (flags[at] ?? 0) | SPLIT_REQUIRED
      first = at
    }
    isAfterExcess = samples > MAX_SPLIT_POINT_SAMPLES
    if (!isAfterExcess) continue
    flags[at] = (flags[at] ?? 0) | SPLIT_UNREADABLE
    if (excess.samples === 0) excess.splitPoint = at
    excess.samples += samples
  }
  return excess
}

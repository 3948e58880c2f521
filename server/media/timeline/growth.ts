// What of an index stays as it is while the recording grows.
import type { Growth } from '../media-index.ts'

const MAX_STABLE_BYTES = 64 * 1024

/** `from`, `to`: bytes of the first segment, which identify the recording. */
export function describeGrowth(
  stableSplitPoints: number,
  { from, to }: { from: number; to: number },
): Growth {
  if (stableSplitPoints < 2) return { stableSplitPoints, stableRange: { offset: 0, length: 0 } }
  const length = Math.min(to - from, MAX_STABLE_BYTES)
  return { stableSplitPoints, stableRange: { offset: from, length } }
}

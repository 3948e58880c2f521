// Finds the key frame from which frames can be decoded. Pure.
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME } from '../../../media/media-index.ts'
import type { SplitPointTable } from '../../../media/media-index.ts'

/** The last key frame up to a split point with the same init segment; undefined without one. */
export function lastKeySplitPoint(
  { flags }: SplitPointTable,
  splitPoint: number,
): number | undefined {
  for (let at = splitPoint; at >= 0; at -= 1) {
    const flag = flags[at] ?? 0
    if ((flag & SPLIT_KEY_FRAME) !== 0) return at
    if ((flag & SPLIT_DISCONTINUITY) !== 0) return undefined
  }
  return undefined
}

// What all scanners do with the split points and sections that they have found so far: they bound
// them, continue stored ones, move the start of the last one, find the one of a position, and state
// what stays as it is.
import { AppError, checkLimit } from '../../base/errors.ts'
import { SPLIT_FORCED, SPLIT_KEY_FRAME } from '../media-index.ts'
import type { Growth, SplitPointTable } from '../media-index.ts'

/** Bounds of one recording: each is far beyond what recorders write in days. */
export const MAX_SPLIT_POINTS = 1_000_000
/** Sections between two discontinuities. */
export const MAX_SECTIONS = 10_000
const MAX_STABLE_BYTES = 64 * 1024

/** Throws UnplayableError if a list of this length cannot have another split point. */
export function checkSplitPoints(count: number): void {
  checkLimit('split-points', MAX_SPLIT_POINTS, count + 1)
}

/** Throws UnplayableError if a list of this length cannot have another section. */
export function checkSections(count: number): void {
  checkLimit('discontinuities', MAX_SECTIONS, count + 1)
}

type Stored = Float64Array | Int32Array | Uint32Array | Uint8Array

/** The first entries of a stored list, for a scan that continues it. */
export function firstOf(list: Stored, count: number): number[] {
  return Array.from(list.subarray(0, count))
}

/**
 * Whether frames that are shown before the frame of the last split point, which has these flags,
 * may follow it: leading frames of an open GOP do, up to the first frame that is shown after the
 * key frame. `latest` is the time of the frame that is shown last, `key` that of the key frame.
 */
export function isStartOpen(flags: number | undefined, latest: number, key: number): boolean {
  if (flags === undefined) return false
  return (flags & SPLIT_FORCED) !== 0 || ((flags & SPLIT_KEY_FRAME) !== 0 && latest <= key)
}

/**
 * Moves the start of the last split point back, because it starts with the frame that is shown
 * first, but not to the split point before it, or to `before` if it is the only one. Returns it.
 */
export function moveLastStart(starts: number[], ticks: number, before = -1): number {
  const last = starts.length - 1
  const earliest = (starts[last - 1] ?? before) + 1
  const moved = Math.max(earliest, Math.min(starts[last] ?? 0, ticks))
  starts[last] = moved
  return moved
}

/** The start of the split point that contains a position of the file. */
export function secondsAt(
  position: number,
  { offsets, startTicks, timescale }: TimedPositions,
): number {
  const splitPoint = offsets.findLastIndex((offset) => offset <= position)
  return (startTicks[splitPoint] ?? 0) / timescale
}

interface TimedPositions {
  offsets: readonly number[]
  startTicks: ArrayLike<number>
  timescale: number
}

/** The section of a split point, of sections in order; undefined if it is before all of them. */
export function findSection<Section extends { firstSplitPoint: number }>(
  sections: readonly Section[],
  splitPoint: number,
): Section | undefined {
  return sections.findLast(({ firstSplitPoint }) => firstSplitPoint <= splitPoint)
}

/** As `findSection`. Throws AppError `failed` if there is none. */
export function sectionOf<Section extends { firstSplitPoint: number }>(
  { sections }: { sections: readonly Section[] },
  splitPoint: number,
): Section {
  const section = findSection(sections, splitPoint)
  if (section === undefined) throw new AppError('failed', 'the index is corrupt')
  return section
}

/** The table of an index, which ends after its last split point. */
export function tableOf(
  { startTicks, flags }: { startTicks: readonly number[]; flags: readonly number[] },
  { timescale, endTicks }: { timescale: number; endTicks: number },
): SplitPointTable {
  return {
    timescale,
    startTicks: Float64Array.from(startTicks),
    endTicks: Math.max(endTicks, (startTicks.at(-1) ?? 0) + 1),
    flags: Uint8Array.from(flags),
  }
}

/**
 * What of an index stays as it is while the recording grows. `from`, `to`: bytes of the first
 * segment, which identify the recording.
 */
export function describeGrowth(
  stableSplitPoints: number,
  { from, to }: { from: number; to: number },
): Growth {
  if (stableSplitPoints < 2) return { stableSplitPoints, stableRange: { offset: 0, length: 0 } }
  const length = Math.min(to - from, MAX_STABLE_BYTES)
  return { stableSplitPoints, stableRange: { offset: from, length } }
}

// The split points that a scan of MPEG-TS has found.
import { SPLIT_FORCED } from '../../media-index.ts'
import type { SplitPointTable } from '../../media-index.ts'
import {
  checkSplitPoints,
  firstOf,
  isStartOpen,
  moveLastStart,
} from '../../timeline/split-points.ts'
import { tsRules } from './clock.ts'
import type { Entry, SplitPointState } from './scan-state.ts'

/** A PES packet that continues this far after a split point is split there. */
const MAX_CARRY_BYTES = 4 * 1024 * 1024

export function createSplitPoints(): SplitPointState {
  return {
    splitPoints: { offsets: [], pts: [], carryBytes: [], counters: [], flags: [] },
    lastSplitPointPts: -Infinity,
    lastMainSplitPointPts: -Infinity,
    splitCarryIsOpen: false,
  }
}

/** `mayCarry`: audio from before it may continue after it. */
export function addSplitPoint(
  state: SplitPointState,
  entry: Entry,
  { mayCarry }: { mayCarry: boolean },
): void {
  const { splitPoints } = state
  checkSplitPoints(splitPoints.offsets.length)
  splitPoints.offsets.push(entry.position)
  splitPoints.pts.push(entry.pts)
  splitPoints.carryBytes.push(entry.carryBytes)
  splitPoints.counters.push(entry.counters)
  splitPoints.flags.push(entry.flags)
  state.lastSplitPointPts = entry.pts
  if (entry.flags !== SPLIT_FORCED) state.lastMainSplitPointPts = entry.pts
  state.splitCarryIsOpen = entry.carryIsOpen && mayCarry
}

/** The flags of the split point at a frame; 0: it is none. */
export function frameFlags(state: SplitPointState, pts: number, kind: 'key' | 'plain'): number {
  const toSplitPoint = pts - state.lastMainSplitPointPts
  return tsRules.videoSplitFlags(kind === 'key', {
    toSplitPoint,
    toKeyFrame: toSplitPoint,
    toAnySplitPoint: pts - state.lastSplitPointPts,
    isShownLast: true,
  })
}

/** Extends the audio that continues after the last split point to `end`. */
export function extendCarry(state: SplitPointState, end: number): void {
  if (!state.splitCarryIsOpen) return
  const { offsets, carryBytes } = state.splitPoints
  const last = offsets.length - 1
  const bytes = end - (offsets[last] ?? end)
  if (bytes > MAX_CARRY_BYTES) state.splitCarryIsOpen = false
  else carryBytes[last] = bytes
}

/** Whether the start of the last split point may move. `latestPts`: of the frame shown last. */
export function isLastOpen(state: SplitPointState, latestPts: number | undefined): boolean {
  const { splitPoints, lastMainSplitPointPts } = state
  return isStartOpen(splitPoints.flags.at(-1), latestPts ?? Infinity, lastMainSplitPointPts)
}

/** Moves the start of the last split point to `pts`. */
export function moveStartBack(state: SplitPointState, pts: number): void {
  state.lastSplitPointPts = moveLastStart(state.splitPoints.pts, pts, -Infinity)
}

/** Position of the last split point; -1 before the first. */
export function lastPosition({ splitPoints }: SplitPointState): number {
  return splitPoints.offsets.at(-1) ?? -1
}

/** The split points of an index, as far as a scan needs them. */
export interface StoredSplitPoints {
  offsets: Float64Array
  carryBytes: Uint32Array
  counters: Uint8Array
  splitPoints: SplitPointTable
}

/** The first `count` of an index. `pts`: the times of all of them. */
export function restoreSplitPoints(
  { offsets, carryBytes, counters, splitPoints }: StoredSplitPoints,
  pts: number[],
  stored: Omit<SplitPointState, 'splitPoints'>,
): SplitPointState {
  const { lastSplitPointPts, lastMainSplitPointPts, splitCarryIsOpen } = stored
  const count = pts.length
  // Bytes after the stored position may have moved the last one.
  if (count > 0) pts[count - 1] = lastSplitPointPts
  return {
    splitPoints: {
      offsets: firstOf(offsets, count),
      pts,
      carryBytes: firstOf(carryBytes, count),
      counters: firstOf(counters, count),
      flags: firstOf(splitPoints.flags, count),
    },
    lastSplitPointPts,
    lastMainSplitPointPts,
    splitCarryIsOpen,
  }
}

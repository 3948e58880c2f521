// The parameter sets in force along a recording, and which of them a segment needs before its first
// frame.
import { missingSets, replaceSets } from './parameter-sets.ts'
import type { ParameterCodec } from './parameter-sets.ts'

/** More different combinations than encoders write in days; later ones are not recorded. */
const MAX_COMBINATIONS = 1000

/** Parameter sets that must precede the first frame of a segment. A plain value. */
export interface SegmentSets {
  combinations: Uint8Array[][]
  /** By split point: number of the combination, from 1; 0 or absent for none. */
  ofSplitPoint: Uint16Array
}

/** The sets so far, in decode order. */
export interface SetsScan {
  inForce: Uint8Array[]
  combinations: Uint8Array[][]
  ofSplitPoint: number[]
}

export function createSetsScan(): SetsScan {
  return { inForce: [], combinations: [], ofSplitPoint: [] }
}

/** The scan when the index had its first `count` split points. */
export function resumeSetsScan(
  sets: SegmentSets | undefined,
  { inForce, count }: { inForce: readonly Uint8Array[]; count: number },
): SetsScan {
  return {
    inForce: [...inForce],
    combinations: [...(sets?.combinations ?? [])],
    ofSplitPoint: [...(sets?.ofSplitPoint.subarray(0, count) ?? [])],
  }
}

/** A frame that may have sets. */
export interface FrameSets {
  codec: ParameterCodec
  /** Those of the decoder configuration, and of the frame itself. */
  recorded: readonly Uint8Array[]
  own: readonly Uint8Array[]
}

/** Takes the next frame; `splitPoint` is the number of the split point that begins with it. */
export function takeFrameSets(scan: SetsScan, frame: FrameSets, splitPoint?: number): void {
  if (splitPoint !== undefined) {
    const missing = missingSets(frame.codec, scan.inForce, frame)
    if (missing.length > 0) setCombination(scan, splitPoint, missing)
  }
  scan.inForce = replaceSets(frame.codec, scan.inForce, frame.own)
}

function setCombination(
  { combinations, ofSplitPoint }: SetsScan,
  splitPoint: number,
  sets: Uint8Array[],
): void {
  const known = combinations.findLastIndex((each) => isSame(each, sets))
  if (known < 0 && combinations.length >= MAX_COMBINATIONS) return
  while (ofSplitPoint.length < splitPoint) ofSplitPoint.push(0)
  ofSplitPoint[splitPoint] = known < 0 ? combinations.push(sets) : known + 1
}

function isSame(one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean {
  if (one.length !== other.length) return false
  return one.every((set, at) => Buffer.compare(set, other[at] ?? new Uint8Array(0)) === 0)
}

/** For the index; undefined if no segment needs any. */
export function finishSets({ combinations, ofSplitPoint }: SetsScan): SegmentSets | undefined {
  if (combinations.length === 0) return undefined
  return { combinations, ofSplitPoint: Uint16Array.from(ofSplitPoint) }
}

/** The sets that must precede the first frame at a split point. */
export function setsAt(sets: SegmentSets | undefined, splitPoint: number): readonly Uint8Array[] {
  return sets?.combinations[(sets.ofSplitPoint[splitPoint] ?? 0) - 1] ?? []
}

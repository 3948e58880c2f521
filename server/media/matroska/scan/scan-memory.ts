// The state of a scan that its index stores, so that the scan can resume.
import { MAX_LIMITATIONS } from '../../media-index.ts'
import type { Limitation } from '../../../base/problem.ts'
import type { ScanMemory } from '../matroska-source.ts'
import { createRun } from './section-run.ts'

/** Default of TimestampScale (RFC 9559 5.1.2.9). */
export const DEFAULT_SCALE_NS = 1_000_000

export function createMemory(): Omit<ScanMemory, 'walkState'> {
  return {
    nsPerTick: DEFAULT_SCALE_NS,
    set: -1,
    tracksHash: '',
    hasSegment: false,
    needsSection: true,
    hasUndecodable: false,
    run: createRun(0, false),
    tentativeFrom: Infinity,
    firstClusterEnd: Infinity,
    sampleCount: 0,
    hasSeenFrame: false,
    hasSeenUndecodable: false,
    pendingCues: [],
    settledCues: [],
    cueCount: 0,
    cueCharacters: 0,
    limitations: [],
  }
}

/** Leaves room for one more, which describes the end of the file. */
export function recordLimitation(
  { limitations }: Pick<ScanMemory, 'limitations'>,
  limitation: Limitation,
): void {
  if (limitations.length < MAX_LIMITATIONS - 1) limitations.push(limitation)
}

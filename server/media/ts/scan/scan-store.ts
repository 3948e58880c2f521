// Stores a scan as small plain values, to continue it when the recording grows.
import type { SplitPointTable } from '../../media-index.ts'
import { firstOf } from '../../timeline/split-points.ts'
import { PID_COUNT } from '../packets/packet.ts'
import { UNKNOWN_COUNTER } from '../packets/packet-walk.ts'
import type { PesStart } from '../packets/pes.ts'
import type { ScanRun } from './scan.ts'
import type { ScanState, StoredScan } from './scan-state.ts'
import type { SectionGatherer } from '../packets/table-section.ts'

/** The split points of an index, as far as a scan needs them. */
export interface StoredSplitPoints {
  offsets: Float64Array
  carryBytes: Uint32Array
  counters: Uint8Array
  splitPoints: SplitPointTable
}

/** `shifts` as returned by layTimeline. */
export function storeScan({ state, position }: ScanRun, shifts: number[]): StoredScan {
  const { interest, lastCounters, splitPoints, ...rest } = state
  const watched: StoredScan['watched'] = []
  interest.forEach((level, pid) => {
    if (level > 0) watched.push({ pid, level, counter: lastCounters[pid] ?? UNKNOWN_COUNTER })
  })
  return {
    position,
    state: {
      ...rest,
      patGatherer: trimGatherer(state.patGatherer),
      pmtGatherer: trimGatherer(state.pmtGatherer),
      frame: {
        ...state.frame,
        pes: trimPes(state.frame),
        scan: state.frame.isOpen ? state.frame.scan : undefined,
      },
      audio: { ...state.audio, pes: trimPes(state.audio) },
    },
    watched,
    splitPointCount: splitPoints.offsets.length,
    shifts: shifts.slice(0, state.sections.length),
  }
}

function trimPes({ pes, isOpen }: { pes: PesStart; isOpen: boolean }): PesStart {
  return { ...pes, bytes: pes.bytes.slice(0, isOpen ? pes.length : 0) }
}

function trimGatherer(gatherer: SectionGatherer): SectionGatherer {
  return { ...gatherer, bytes: gatherer.bytes.slice(0, gatherer.isOpen ? gatherer.length : 0) }
}

/**
 * Restores a scan; the stored one stays unchanged. `fresh` is a new scan of the same recording,
 * whose buffers are reused.
 */
export function restoreScan(
  stored: StoredScan,
  known: StoredSplitPoints,
  fresh: ScanState,
): ScanRun {
  const rest = structuredClone(stored.state)
  const interest = new Uint8Array(PID_COUNT)
  const lastCounters = new Uint8Array(PID_COUNT).fill(UNKNOWN_COUNTER)
  for (const { pid, level, counter } of stored.watched) {
    interest[pid] = level
    lastCounters[pid] = counter
  }
  const state: ScanState = {
    ...rest,
    interest,
    lastCounters,
    patGatherer: widen(rest.patGatherer, fresh.patGatherer),
    pmtGatherer: widen(rest.pmtGatherer, fresh.pmtGatherer),
    frame: { ...rest.frame, pes: widen(rest.frame.pes, fresh.frame.pes) },
    audio: { ...rest.audio, pes: widen(rest.audio.pes, fresh.audio.pes) },
    splitPoints: restoreSplitPoints(stored, known),
  }
  return { state, position: stored.position }
}

function widen<Gathered extends { bytes: Uint8Array }>(
  gathered: Gathered,
  fresh: Gathered,
): Gathered {
  fresh.bytes.set(gathered.bytes)
  return { ...gathered, bytes: fresh.bytes }
}

function restoreSplitPoints(
  { state, splitPointCount, shifts }: StoredScan,
  { offsets, carryBytes, counters, splitPoints }: StoredSplitPoints,
): ScanState['splitPoints'] {
  const pts = firstOf(splitPoints.startTicks, splitPointCount)
  state.sections.forEach(({ firstSplitPoint }, i) => {
    const end = state.sections[i + 1]?.firstSplitPoint ?? splitPointCount
    // This may not be the original time of the first split point; the scan has it elsewhere.
    for (let splitPoint = firstSplitPoint; splitPoint < end; splitPoint++)
      pts[splitPoint] = (pts[splitPoint] ?? 0) + (shifts[i] ?? 0)
  })
  // Bytes after the stored position may have moved the last one.
  if (pts.length > 0) pts[pts.length - 1] = state.lastSplitPointPts
  return {
    offsets: firstOf(offsets, splitPointCount),
    pts,
    carryBytes: firstOf(carryBytes, splitPointCount),
    counters: firstOf(counters, splitPointCount),
    flags: firstOf(splitPoints.flags, splitPointCount),
  }
}

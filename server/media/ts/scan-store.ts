// Keeps a scan as plain values of few bytes, so that it goes on when the recording has grown.
import type { CutTable } from '../media-index.ts'
import { PID_COUNT } from './packet.ts'
import { UNKNOWN_COUNTER } from './packet-walk.ts'
import type { PesStart } from './pes.ts'
import type { ScanRun } from './scan.ts'
import type { ScanState } from './scan-state.ts'
import type { SectionGatherer } from './table-section.ts'

/** A scan without what the index holds anyway, and with its buffers cut to what is in them. */
export interface StoredScan {
  position: number
  state: Omit<ScanState, 'interest' | 'lastCounters' | 'cuts'>
  /** Levels of interest and continuity counters of the PIDs that are looked at. */
  watched: { pid: number; level: number; counter: number }[]
  /** The first so many cuts of the index are the scan's. */
  cutCount: number
  /** Per section: ticks of the recording's clock at the start of the session's timeline. */
  shifts: number[]
}

/** The cuts of an index, as far as a scan needs them again. */
export interface StoredCuts {
  offsets: Float64Array
  carryBytes: Uint32Array
  counters: Uint8Array
  cuts: CutTable
}

/** `shifts` as layTimeline gives them. */
export function storeScan({ state, position }: ScanRun, shifts: number[]): StoredScan {
  const { interest, lastCounters, cuts, ...rest } = state
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
      picture: {
        ...state.picture,
        pes: trimPes(state.picture),
        scan: state.picture.isOpen ? state.picture.scan : undefined,
      },
      sound: { ...state.sound, pes: trimPes(state.sound) },
    },
    watched,
    cutCount: cuts.offsets.length,
    shifts: shifts.slice(0, state.sections.length),
  }
}

function trimPes({ pes, isOpen }: { pes: PesStart; isOpen: boolean }): PesStart {
  return { ...pes, bytes: pes.bytes.slice(0, isOpen ? pes.length : 0) }
}

function trimGatherer(gatherer: SectionGatherer): SectionGatherer {
  return { ...gatherer, bytes: gatherer.bytes.slice(0, gatherer.isOpen ? gatherer.length : 0) }
}

/** A scan to go on with; what was stored stays as it is. `fresh` is a new scan of the same recording, whose buffers it takes. */
export function restoreScan(stored: StoredScan, known: StoredCuts, fresh: ScanState): ScanRun {
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
    picture: { ...rest.picture, pes: widen(rest.picture.pes, fresh.picture.pes) },
    sound: { ...rest.sound, pes: widen(rest.sound.pes, fresh.sound.pes) },
    cuts: restoreCuts(stored, known),
  }
  return { state, position: stored.position }
}

function widen<Gathered extends { bytes: Uint8Array }>(gathered: Gathered, fresh: Gathered): Gathered {
  fresh.bytes.set(gathered.bytes)
  return { ...gathered, bytes: fresh.bytes }
}

function restoreCuts(
  { state, cutCount, shifts }: StoredScan,
  { offsets, carryBytes, counters, cuts }: StoredCuts,
): ScanState['cuts'] {
  const pts = Array.from(cuts.startTicks.subarray(0, cutCount))
  state.sections.forEach(({ firstCut }, i) => {
    const end = state.sections[i + 1]?.firstCut ?? cutCount
    // Of a section's first cut this may not be the time it had: where that counts, the scan has it elsewhere.
    for (let cut = firstCut; cut < end; cut++) pts[cut] = (pts[cut] ?? 0) + (shifts[i] ?? 0)
  })
  return {
    offsets: Array.from(offsets.subarray(0, cutCount)),
    pts,
    carryBytes: Array.from(carryBytes.subarray(0, cutCount)),
    counters: Array.from(counters.subarray(0, cutCount)),
    flags: Array.from(cuts.flags.subarray(0, cutCount)),
  }
}

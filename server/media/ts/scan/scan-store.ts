// Composes the machines of a scan, and stores their states in an index: as one flat object, without
// the split points, which the index has.
import { firstOf } from '../../timeline/split-points.ts'
import { createAudio } from './audio-marks.ts'
import { createClock } from './clock.ts'
import { createFrames } from './frames.ts'
import { createProgram } from './program.ts'
import { createSections } from './sections.ts'
import { restoreSplitPoints } from './split-points.ts'
import type { StoredSplitPoints } from './split-points.ts'
import { createWatch, restoreWatch, storeWatch, watchProgram } from './watch.ts'
import type { ScanOptions, ScanRun, ScanState, StoredScan } from './scan-state.ts'

export function createScanState(options: ScanOptions): ScanState {
  const state: ScanState = {
    options,
    watch: createWatch(),
    program: createProgram(options.program, options.served),
    frame: createFrames(),
    audio: createAudio(),
    clock: createClock(),
    sections: createSections(options.start),
    counts: { frames: 0, scrambled: 0 },
  }
  watchProgram(state.watch, state.program)
  return state
}

/** `shifts` as returned by layTimeline. */
export function storeScan({ state, position }: ScanRun, shifts: number[]): StoredScan {
  const { options, watch, program, frame, audio, clock, counts } = state
  const { patGatherer, pmtGatherer } = program
  const { points, ...sections } = state.sections
  const { splitPoints, ...lastPoint } = points
  return {
    position,
    state: {
      options,
      ...program,
      patGatherer: trim(patGatherer, patGatherer.isOpen),
      pmtGatherer: trim(pmtGatherer, pmtGatherer.isOpen),
      frame: {
        ...frame,
        pes: trim(frame.pes, frame.isOpen),
        scan: frame.isOpen ? frame.scan : undefined,
      },
      audio: { ...audio, pes: trim(audio.pes, audio.isOpen) },
      ...clock,
      ...sections,
      ...lastPoint,
      counts,
    },
    watched: storeWatch(watch),
    splitPointCount: splitPoints.offsets.length,
    shifts: shifts.slice(0, sections.sections.length),
  }
}

/** What is gathered from packets. */
interface Gathered {
  bytes: Uint8Array
  length: number
}

/** Without the bytes after the gathered ones, or without any. */
function trim<Part extends Gathered>(part: Part, isNeeded: boolean): Part {
  return { ...part, bytes: part.bytes.slice(0, isNeeded ? part.length : 0) }
}

/** With the buffer of a part that is as large as it was. */
function widen<Part extends Gathered>(part: Part, { bytes }: Part): Part {
  bytes.set(part.bytes)
  return { ...part, bytes }
}

/** Restores a scan; the stored one stays unchanged. */
export function restoreScan(stored: StoredScan, index: StoredSplitPoints): ScanRun {
  const state = structuredClone(stored.state)
  const { program, served, counters, options, counts } = state
  const fresh = createScanState(options)
  const { patGatherer, pmtGatherer } = fresh.program
  const { reference, jump, stray, pauseFrom, lastKeyDts, takesRecovery } = state
  const { sections, gate, wantsSection, holes, sets, flaws } = state
  const points = restoreSplitPoints(index, recordedTimes(stored, index), state)
  return {
    state: {
      options,
      watch: restoreWatch(stored.watched),
      program: {
        program,
        served,
        patGatherer: widen(state.patGatherer, patGatherer),
        pmtGatherer: widen(state.pmtGatherer, pmtGatherer),
        counters,
      },
      frame: { ...state.frame, pes: widen(state.frame.pes, fresh.frame.pes) },
      audio: { ...state.audio, pes: widen(state.audio.pes, fresh.audio.pes) },
      clock: { reference, jump, stray, pauseFrom, lastKeyDts, takesRecovery },
      sections: { sections, points, gate, wantsSection, holes, sets, flaws },
      counts,
    },
    position: stored.position,
  }
}

/** Times of the split points on the clock of the recording; the index has those of the session. */
function recordedTimes(
  { state: { sections }, splitPointCount, shifts }: StoredScan,
  { splitPoints }: StoredSplitPoints,
): number[] {
  const pts = firstOf(splitPoints.startTicks, splitPointCount)
  sections.forEach(({ firstSplitPoint }, i) => {
    const end = sections[i + 1]?.firstSplitPoint ?? splitPointCount
    // This may not be the original time of the first split point; the scan has it elsewhere.
    for (let splitPoint = firstSplitPoint; splitPoint < end; splitPoint++)
      pts[splitPoint] = (pts[splitPoint] ?? 0) + (shifts[i] ?? 0)
  })
  return pts
}

// Where sections of the recording begin, and where its cuts are.
import { AppError } from '../../errors.ts'
import { follows, isNear, isVerbatim } from './scan-state.ts'
import type { ScanSection, ScanState } from './scan-state.ts'

/** A recording with more than this is not served; each is far beyond what recorders write in days. */
const MAX_CUTS = 1_000_000
const MAX_SECTIONS = 10_000
const MAX_HOLES = 20_000

/** A PES packet at which a segment may begin. Times are unwrapped ticks. */
export interface Entry {
  position: number
  pts: number
  dts: number
  isKey: boolean
  counters: number
  carryBytes: number
  carryIsOpen: boolean
  sps: Uint8Array | undefined
  parameterSets: Uint8Array | undefined
}

/** Begins a section at the entry, or at the gate in front of it where only sound lies between. */
export function startSection(state: ScanState, entry: Entry): void {
  const { gate, sections } = state
  const before = sections.at(-1)
  if (sections.length >= MAX_SECTIONS) {
    throw new AppError('unplayable', `time stamps break more than ${MAX_SECTIONS} times`)
  }
  if (gate?.sawPicture && before !== undefined) addHole(state, gate.from, entry.position)
  sections.push(createSection(state, entry))
  if (gate !== undefined && !gate.sawPicture && gate.from !== entry.position) {
    const { from: position, counters } = gate
    addCut(state, { ...entry, position, counters, carryBytes: 0, carryIsOpen: false })
  } else {
    addCut(state, entry)
  }
  state.gate = undefined
  state.stray = undefined
}

function createSection(state: ScanState, entry: Entry): ScanSection {
  const { gate, program, served } = state
  const before = state.sections.at(-1)
  const waiting = gate?.sawPicture ? undefined : gate?.sound
  const sound = waiting && isNear(waiting.pts, entry.dts) ? waiting : undefined
  return {
    firstCut: state.cuts.offsets.length,
    program,
    served,
    isVerbatim: isVerbatim(state),
    continues: before !== undefined && !gate?.sawPicture && goesOn(state, before, entry),
    sps: entry.sps ?? before?.sps,
    parameterSets: entry.parameterSets ?? before?.parameterSets,
    earliestPts: Math.min(entry.pts, sound?.earliestPts ?? Infinity),
    lastDts: entry.dts,
    latestPicturePts: entry.pts,
    frameTicks: 0,
    sound,
  }
}

/** Whether the clock of a new section is that of the section before. */
function goesOn(state: ScanState, before: ScanSection, entry: Entry): boolean {
  if (state.gate?.reason === 'jump') return false
  return follows(entry.dts, before.lastDts) && entry.pts > (state.cuts.pts.at(-1) ?? Infinity)
}

/** Adds a cut at the entry. */
export function addCut(state: ScanState, entry: Entry): void {
  const { cuts } = state
  if (cuts.offsets.length >= MAX_CUTS) throw new AppError('unplayable', 'the recording is too long')
  cuts.offsets.push(entry.position)
  cuts.pts.push(entry.pts)
  cuts.carryBytes.push(entry.carryBytes)
  cuts.counters.push(entry.counters)
  cuts.isKey.push(entry.isKey)
  state.cutCarryIsOpen = entry.carryIsOpen
}

/** Notes a range of the file that no segment holds. Ranges come in order; what touches is joined. */
export function addHole(state: ScanState, from: number, to: number): void {
  const { holes } = state
  while (holes.length > 0 && (holes.at(-1) ?? 0) >= from) {
    holes.pop()
    from = Math.min(from, holes.pop() ?? from)
  }
  holes.push(from, to)
  if (holes.length > 2 * MAX_HOLES)
    throw new AppError('unplayable', 'the recording is damaged in too many places')
}

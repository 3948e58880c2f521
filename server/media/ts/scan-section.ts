// Where sections of the recording begin, and where its cuts are.
import { AppError } from '../../errors.ts'
import { CUT_MID } from '../media-index.ts'
import { follows, isNear, isVerbatim, noteFlaw } from './scan-state.ts'
import type { Entry, ScanSection, ScanState } from './scan-state.ts'

/** A recording with more than this is not served; each is far beyond what recorders write in days. */
const MAX_CUTS = 1_000_000
const MAX_SECTIONS = 10_000
const MAX_HOLES = 20_000

/** Begins a section at the entry, or at the gate in front of it where only sound lies between. */
export function startSection(state: ScanState, entry: Entry): void {
  const { gate, sections } = state
  const before = sections.at(-1)
  if (sections.length >= MAX_SECTIONS) {
    throw new AppError('unplayable', `time stamps break more than ${MAX_SECTIONS} times`)
  }
  if (gate?.sawPicture && before !== undefined) {
    addHole(state, gate.from, entry.position)
    const message = 'pictures that cannot be decoded were left out, up to the next key frame'
    noteFlaw(state, { kind: 'damaged', message, offsetBytes: gate.from })
  }
  sections.push(createSection(state, entry))
  if (gate !== undefined && !gate.sawPicture && gate.from !== entry.position) {
    const { from: position, counters } = gate
    addCut(state, { ...entry, position, counters, carryBytes: 0, carryIsOpen: false })
  } else {
    addCut(state, entry)
  }
  state.gate = undefined
  state.stray = undefined
  state.wantsSection = false
}

function createSection(state: ScanState, entry: Entry): ScanSection {
  const { gate, program, served, cuts } = state
  const before = state.sections.at(-1)
  const waiting = gate?.sawPicture ? undefined : gate?.sound
  const sound = waiting && isNear(waiting.pts, entry.dts) ? waiting : undefined
  const firstCut = cuts.offsets.length
  const section: ScanSection = {
    firstCut,
    program,
    served,
    ownFromCut: isVerbatim(state) ? undefined : firstCut,
    continues: before !== undefined && !gate?.sawPicture && goesOn(state, before, entry),
    promise: served.audio === undefined ? 'broken' : 'waiting',
    track: undefined,
    sps: entry.sps ?? before?.sps,
    parameterSets: entry.parameterSets ?? before?.parameterSets,
    earliestPts: Math.min(entry.pts, sound?.earliestPts ?? Infinity),
    earliestIsFixed: false,
    firstDts: entry.dts,
    lastDts: entry.dts,
    latestPicturePts: entry.pts,
    frameTicks: 0,
    sound: sound && { position: sound.position, pts: sound.pts },
    soundEndPts: undefined,
  }
  if (sound !== undefined) keepPromise(state, section)
  return section
}

/** Notes that the section has sound, once it is known what sound. */
export function keepPromise(state: ScanState, section: ScanSection): void {
  const { track } = state.sound
  if (section.promise !== 'waiting' || track === undefined) return
  section.promise = 'kept'
  section.track = track
}

/** Whether the clock of a new section is that of the section before. */
function goesOn(state: ScanState, before: ScanSection, entry: Entry): boolean {
  if (state.gate?.reason === 'jump') return false
  return follows(entry.dts, before.lastDts) && entry.pts > state.lastCutPts
}

/** Adds a cut at the entry. */
export function addCut(state: ScanState, entry: Entry): void {
  const { cuts } = state
  if (cuts.offsets.length >= MAX_CUTS) throw new AppError('unplayable', 'the recording is too long')
  const section = state.sections.at(-1)
  if (section !== undefined && section.firstCut < cuts.offsets.length)
    section.earliestIsFixed = true
  cuts.offsets.push(entry.position)
  cuts.pts.push(entry.pts)
  cuts.carryBytes.push(entry.carryBytes)
  cuts.counters.push(entry.counters)
  cuts.flags.push(entry.flags)
  state.lastCutPts = entry.pts
  if (entry.flags !== CUT_MID) state.lastMainCutPts = entry.pts
  // Where no sound is served, there is none to carry.
  state.cutCarryIsOpen = entry.carryIsOpen && section?.promise !== 'broken'
}

/** Position of the last cut; -1 before the first. */
export function lastCutPosition({ cuts }: ScanState): number {
  return cuts.offsets.at(-1) ?? -1
}

/** Lets the section begin with what is shown or heard first in it. */
export function widenSection(section: ScanSection, pts: number): void {
  if (!section.earliestIsFixed) section.earliestPts = Math.min(section.earliestPts, pts)
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

// Begins the sections of a recording, and adds split points.
import { UnplayableError } from '../../../base/errors.ts'
import { splitNals, START_CODE } from '../../codec/nal-unit.ts'
import { missingSets, replaceSets, setOrder } from '../../codec/parameter-sets.ts'
import { takeFrameSets } from '../../codec/sets-scan.ts'
import { SPLIT_FORCED } from '../../media-index.ts'
import {
  checkSections,
  checkSplitPoints,
  isStartOpen,
  moveLastStart,
} from '../../timeline/split-points.ts'
import { isVerbatim, noteFlaw } from './scan-state.ts'
import type { Entry, ScanSection, ScanState } from './scan-state.ts'
import { tsRules } from './ts-rules.ts'

const MAX_PARAMETER_SETS = 64
/** A recording with more is unplayable; recorders do not write as many in days. */
const MAX_HOLES = 20_000

/** Begins a section at the entry, or at the gate before it if only audio is between. */
export function startSection(state: ScanState, entry: Entry): void {
  const { gate, sections } = state
  const before = sections.at(-1)
  checkSections(sections.length)
  if (gate?.sawFrame && before !== undefined) {
    addHole(state, gate.from, entry.position)
    noteFlaw(state, { code: 'frames-undecodable', offsetBytes: gate.from })
  }
  sections.push(createSection(state, entry))
  if (gate !== undefined && !gate.sawFrame && gate.from !== entry.position) {
    const { from: position, counters } = gate
    addSplitPoint(state, { ...entry, position, counters, carryBytes: 0, carryIsOpen: false })
  } else {
    addSplitPoint(state, entry)
  }
  state.gate = undefined
  state.stray = undefined
  state.wantsSection = false
}

function createSection(state: ScanState, entry: Entry): ScanSection {
  const { gate, program, served, splitPoints } = state
  const before = state.sections.at(-1)
  const waiting = gate?.sawFrame ? undefined : gate?.audio
  const audio = waiting && tsRules.isNear(waiting.pts, entry.dts) ? waiting : undefined
  const firstSplitPoint = splitPoints.offsets.length
  const section: ScanSection = {
    firstSplitPoint,
    program,
    served,
    ownFromSplitPoint: isVerbatim(state) ? undefined : firstSplitPoint,
    continues: before !== undefined && !gate?.sawFrame && goesOn(state, before, entry),
    promise: served.audio === undefined ? 'broken' : 'waiting',
    track: undefined,
    sps: entry.sps ?? before?.sps,
    parameterSets: wholeSets(state, entry, before?.parameterSets),
    earliestPts: Math.min(entry.pts, audio?.earliestPts ?? Infinity),
    earliestIsFixed: false,
    firstDts: entry.dts,
    lastDts: entry.dts,
    latestFramePts: entry.pts,
    frameTicks: 0,
    audio: audio && { position: audio.position, pts: audio.pts },
    audioEndPts: undefined,
  }
  if (audio !== undefined) keepPromise(state, section)
  return section
}

/** The parameter sets of the first frame, with those in force for kinds that it lacks. */
function wholeSets(
  { sets: { inForce }, served: { video } }: ScanState,
  { sets: own, parameterSets }: Entry,
  before: Uint8Array | undefined,
): Uint8Array | undefined {
  if (video === undefined || inForce.length === 0) return parameterSets ?? before
  const kinds = (sets: readonly Uint8Array[]) =>
    new Set(sets.map((set) => setOrder(video.codec, set)))
  const has = kinds(own)
  if ([...kinds(inForce)].every((kind) => has.has(kind))) return parameterSets ?? before
  const recorded = splitNals(before ?? new Uint8Array(0), MAX_PARAMETER_SETS)
  const whole = replaceSets(video.codec, inForce, own)
  if (missingSets(video.codec, whole, { recorded, own: [] }).length === 0) return before
  whole.sort((a, b) => setOrder(video.codec, a) - setOrder(video.codec, b))
  return new Uint8Array(Buffer.concat(whole.flatMap((set) => [START_CODE, set])))
}

/** Marks the audio of the section as present, once its configuration is known. */
export function keepPromise(state: ScanState, section: ScanSection): void {
  const { track } = state.audio
  if (section.promise !== 'waiting' || track === undefined) return
  section.promise = 'kept'
  section.track = track
}

/** Whether a new section continues the clock of the last one. */
function goesOn(state: ScanState, before: ScanSection, entry: Entry): boolean {
  if (state.gate?.reason === 'jump') return false
  return tsRules.follows(entry.dts, before.lastDts) && entry.pts > state.lastSplitPointPts
}

/** Adds a split point at the entry. */
export function addSplitPoint(state: ScanState, entry: Entry): void {
  const { splitPoints } = state
  checkSplitPoints(splitPoints.offsets.length)
  const section = state.sections.at(-1)
  if (section !== undefined && section.firstSplitPoint < splitPoints.offsets.length)
    section.earliestIsFixed = true
  splitPoints.offsets.push(entry.position)
  splitPoints.pts.push(entry.pts)
  splitPoints.carryBytes.push(entry.carryBytes)
  splitPoints.counters.push(entry.counters)
  splitPoints.flags.push(entry.flags)
  state.lastSplitPointPts = entry.pts
  if (entry.flags !== SPLIT_FORCED) state.lastMainSplitPointPts = entry.pts
  // Without served audio, none continues after the split point.
  state.splitCarryIsOpen = entry.carryIsOpen && section?.promise !== 'broken'
}

/**
 * Records the parameter sets of a frame; the split point with the number `first`, if there is one,
 * begins with it.
 */
export function noteSets(state: ScanState, { sets: own }: Entry, first: number): void {
  const { video } = state.served
  if (video === undefined) return
  const splitPoint = first < state.splitPoints.offsets.length ? first : undefined
  takeFrameSets(state.sets, { codec: video.codec, recorded: [], own }, splitPoint)
}

/** Whether the start of the last split point may move. */
export function isLastOpen({ splitPoints, sections, lastMainSplitPointPts }: ScanState): boolean {
  const latest = sections.at(-1)?.latestFramePts ?? Infinity
  return isStartOpen(splitPoints.flags.at(-1), latest, lastMainSplitPointPts)
}

/** A split point starts with the frame that is shown first, which may be a later one. */
export function moveStartBack(state: ScanState, { pts, dts }: Entry): void {
  // A frame that is shown before it is decoded has a wrong stamp.
  if (pts >= state.lastSplitPointPts || pts < dts || !isLastOpen(state)) return
  state.lastSplitPointPts = moveLastStart(state.splitPoints.pts, pts, -Infinity)
}

/** Position of the last split point; -1 before the first. */
export function lastSplitPointPosition({ splitPoints }: ScanState): number {
  return splitPoints.offsets.at(-1) ?? -1
}

/** The section begins with its earliest frame or audio. */
export function widenSection(section: ScanSection, pts: number): void {
  if (!section.earliestIsFixed) section.earliestPts = Math.min(section.earliestPts, pts)
}

/**
 * Adds a range of the file that belongs to no segment. Ranges come in order; adjacent ones are
 * joined.
 */
export function addHole(state: ScanState, from: number, to: number): void {
  const { holes } = state
  while (holes.length > 0 && (holes.at(-1) ?? 0) >= from) {
    holes.pop()
    from = Math.min(from, holes.pop() ?? from)
  }
  holes.push(from, to)
  if (holes.length > 2 * MAX_HOLES)
    throw new UnplayableError({ code: 'limit-exceeded', limit: 'corrupt-ranges', max: MAX_HOLES })
}

// The sections of a recording and their split points: begins them at frames whose times the clock
// has accepted, and notes what belongs to none.
import type { Limitation } from '../../../base/problem.ts'
import { checkLimit } from '../../../base/errors.ts'
import { splitNals, START_CODE } from '../../codec/nal-unit.ts'
import {
  createSetsScan,
  missingSets,
  replaceSets,
  setOrder,
  takeFrameSets,
} from '../../codec/parameter-sets.ts'
import { parseVideoParameters } from '../../codec/video-parameters.ts'
import { checkSections } from '../../timeline/split-points.ts'
import { MAX_FORWARD_SECONDS } from '../../timeline/timeline-rules.ts'
import type { AudioConfig } from '../packets/audio-frame.ts'
import { PES_TIMESCALE } from '../packets/pes.ts'
import { tsRules } from './clock.ts'
import { canServeVerbatim } from './served-program.ts'
import type { ServedStreams } from './served-program.ts'
import {
  addSplitPoint,
  createSplitPoints,
  frameFlags,
  isLastOpen,
  moveStartBack,
} from './split-points.ts'
import type {
  AudioMark,
  AudioState,
  Entry,
  Gate,
  Jump,
  ProgramState,
  ScanSection,
  SectionState,
} from './scan-state.ts'

const MAX_PARAMETER_SETS = 64
/** A recording with more is unplayable; recorders do not write as many in days. */
const MAX_HOLES = 20_000
/** Further limitations of one recording are dropped. */
const MAX_FLAWS = 95
const MAX_FRAME_TICKS = MAX_FORWARD_SECONDS * PES_TIMESCALE
/** Audio that is missing for this long is not awaited. */
const MAX_AUDIO_WAIT_TICKS = MAX_FORWARD_SECONDS * PES_TIMESCALE

/** What the recording has at a position: its tables, and the audio configuration if it is known. */
export interface Streams {
  program: Pick<ProgramState, 'program' | 'served'>
  audio: Pick<AudioState, 'track'>
}

export function createSections(start: number): SectionState {
  return {
    sections: [],
    points: createSplitPoints(),
    gate: createGate('start', start, 0xff),
    wantsSection: false,
    holes: [],
    sets: createSetsScan(),
    flaws: [],
  }
}

export function createGate(reason: Gate['reason'], from: number, counters: number): Gate {
  return { reason, from, counters, sawFrame: false, audio: undefined }
}

/** Adds a frame of video: at the start of a section, as a split point, or inside a segment. */
export function addFrame(
  state: SectionState,
  { entry, isKey }: { entry: Entry; isKey: boolean },
  streams: Streams,
): void {
  const section = state.sections.at(-1)
  const known = state.points.splitPoints.offsets.length
  if (state.gate !== undefined || section === undefined) {
    if (isKey) startSection(state, entry, streams)
    else if (state.gate !== undefined) state.gate.sawFrame = true
  } else if (isKey && (state.wantsSection || hasNewSps(section, entry))) {
    startSection(state, entry, streams)
  } else if (isKey) {
    addKeyFrame(state, section, entry)
  } else {
    addPlainFrame(state, section, entry)
  }
  noteSets(state, { entry, first: isKey ? known : Infinity }, streams)
  const current = state.sections.at(-1)
  if (current !== undefined && state.gate === undefined) clockFrame(current, entry, isKey)
}

/**
 * Begins a section at a frame with which the clock has jumped if it can be decoded; else waits for
 * a key frame.
 */
export function addJump(
  state: SectionState,
  { jump, isKey }: { jump: Jump; isKey: boolean },
  streams: Streams,
): void {
  const { entry, goesOn, lead, audio } = jump
  const before = state.sections.at(-1)
  if (before !== undefined) noteGap(state, [before.lastDts, entry.dts], entry.position)
  state.gate = createGate('jump', lead?.position ?? entry.position, entry.counters)
  state.gate.audio = audio
  const first = isKey ? state.points.splitPoints.offsets.length : Infinity
  if (isKey || goesOn) startSection(state, isKey ? entry : { ...entry, flags: 0 }, streams)
  else state.gate.sawFrame = true
  noteSets(state, { entry, first }, streams)
}

/** Begins a section at the entry, or at the gate before it if only audio is between. */
export function startSection(state: SectionState, entry: Entry, streams: Streams): void {
  const { gate, sections } = state
  const before = sections.at(-1)
  checkSections(sections.length)
  if (gate?.sawFrame && before !== undefined) {
    addHole(state, gate.from, entry.position)
    noteFlaw(state, { code: 'frames-undecodable', offsetBytes: gate.from })
  }
  sections.push(createSection(state, entry, streams))
  if (gate !== undefined && !gate.sawFrame && gate.from !== entry.position) {
    const { from: position, counters } = gate
    addPoint(state, { ...entry, position, counters, carryBytes: 0, carryIsOpen: false })
  } else {
    addPoint(state, entry)
  }
  state.gate = undefined
  state.wantsSection = false
}

function createSection(state: SectionState, entry: Entry, streams: Streams): ScanSection {
  const { gate, sections, points } = state
  const { program, served } = streams.program
  const before = sections.at(-1)
  const waiting = gate?.sawFrame ? undefined : gate?.audio
  const audio = waiting && tsRules.isNear(waiting.pts, entry.dts) ? waiting : undefined
  const firstSplitPoint = points.splitPoints.offsets.length
  const section: ScanSection = {
    firstSplitPoint,
    program,
    served,
    ownFromSplitPoint: canServeVerbatim(program, served) ? undefined : firstSplitPoint,
    continues: before !== undefined && !gate?.sawFrame && goesOn(state, before, entry),
    promise: served.audio === undefined ? 'broken' : 'waiting',
    track: undefined,
    sps: entry.sps ?? before?.sps,
    parameterSets: wholeSets(state.sets.inForce, { entry, served }, before?.parameterSets),
    earliestPts: Math.min(entry.pts, audio?.earliestPts ?? Infinity),
    earliestIsFixed: false,
    firstDts: entry.dts,
    lastDts: entry.dts,
    latestFramePts: entry.pts,
    frameTicks: 0,
    audio: audio && { position: audio.position, pts: audio.pts },
    audioEndPts: undefined,
  }
  if (audio !== undefined) keepPromise(section, streams.audio.track)
  return section
}

/** Whether a new section continues the clock of the last one. */
function goesOn({ gate, points }: SectionState, before: ScanSection, entry: Entry): boolean {
  if (gate?.reason === 'jump') return false
  return tsRules.follows(entry.dts, before.lastDts) && entry.pts > points.lastSplitPointPts
}

/** The parameter sets of the first frame, with those in force for kinds that it lacks. */
function wholeSets(
  inForce: Uint8Array[],
  { entry, served: { video } }: { entry: Entry; served: ServedStreams },
  before: Uint8Array | undefined,
): Uint8Array | undefined {
  const { sets: own, parameterSets } = entry
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
export function keepPromise(section: ScanSection, track: AudioConfig | undefined): void {
  if (section.promise !== 'waiting' || track === undefined) return
  section.promise = 'kept'
  section.track = track
}

/** Adds a split point to the last section. */
export function addPoint({ sections, points }: SectionState, entry: Entry): void {
  const section = sections.at(-1)
  if (section !== undefined && section.firstSplitPoint < points.splitPoints.offsets.length)
    section.earliestIsFixed = true
  // Without served audio, none continues after the split point.
  addSplitPoint(points, entry, { mayCarry: section?.promise !== 'broken' })
}

function hasNewSps({ sps, served }: ScanSection, entry: Entry): boolean {
  if (entry.sps === undefined || sps === undefined) return false
  if (Buffer.compare(entry.sps, sps) === 0) return false
  // An unreadable one is corrupt, not new.
  return (
    served.video !== undefined && parseVideoParameters(served.video.codec, entry.sps) !== undefined
  )
}

function addKeyFrame(state: SectionState, section: ScanSection, entry: Entry): void {
  section.sps ??= entry.sps
  section.parameterSets ??= entry.parameterSets
  if (frameFlags(state.points, entry.pts, 'key') !== 0) addPoint(state, entry)
  else showEarlier(state, entry)
}

function addPlainFrame(state: SectionState, section: ScanSection, entry: Entry): void {
  const { latestFramePts, frameTicks } = section
  // B-frames after it in the file may be shown before it.
  const pts = Math.min(entry.pts, latestFramePts + frameTicks)
  const flags = entry.pts > latestFramePts ? frameFlags(state.points, pts, 'plain') : 0
  if (flags !== 0) addPoint(state, { ...entry, flags })
  else showEarlier(state, entry)
}

/** A split point starts with the frame that is shown first, which may be a later one. */
function showEarlier(state: SectionState, { pts, dts }: Entry): void {
  // A frame that is shown before it is decoded has a wrong stamp.
  if (pts >= state.points.lastSplitPointPts || pts < dts || !isStartMovable(state)) return
  moveStartBack(state.points, pts)
}

/** Whether the start of the last split point may move. */
export function isStartMovable({ sections, points }: SectionState): boolean {
  return isLastOpen(points, sections.at(-1)?.latestFramePts)
}

/** Records the sets of a frame; the split point `first`, if there is one, begins with it. */
function noteSets(
  { sets, points }: SectionState,
  { entry: { sets: own }, first }: { entry: Entry; first: number },
  streams: Streams,
): void {
  const { video } = streams.program.served
  if (video === undefined) return
  const splitPoint = first < points.splitPoints.offsets.length ? first : undefined
  takeFrameSets(sets, { codec: video.codec, recorded: [], own }, splitPoint)
}

function clockFrame(section: ScanSection, { pts, dts }: Entry, isKey: boolean): void {
  const step = dts - section.lastDts
  if (step > 0 && step <= MAX_FRAME_TICKS) section.frameTicks = step
  section.lastDts = dts
  widenSection(section, pts)
  // A key frame is presented after all frames before it; a later time of one of these is wrong.
  section.latestFramePts = isKey ? pts : Math.max(section.latestFramePts, pts)
  if (section.promise === 'waiting' && dts - section.firstDts > MAX_AUDIO_WAIT_TICKS) {
    section.promise = 'broken'
  }
}

/** The section begins with its earliest frame or audio. */
function widenSection(section: ScanSection, pts: number): void {
  if (!section.earliestIsFixed) section.earliestPts = Math.min(section.earliestPts, pts)
}

/** Whether audio is on the clock of the section. */
export function fitsSection(section: ScanSection, { pts }: AudioMark): boolean {
  if (section.audio !== undefined && tsRules.follows(pts, section.audio.pts)) return true
  return tsRules.isNear(pts, section.lastDts)
}

/** Adds audio to a section. */
export function clockAudio(section: ScanSection, mark: AudioMark): void {
  widenSection(section, mark.pts)
  section.audio = mark
}

/** Holds audio at the gate, for the section that begins there. */
export function waitAtGate(gate: Gate, mark: AudioMark): void {
  const { audio } = gate
  const isNext = audio !== undefined && tsRules.follows(mark.pts, audio.pts)
  gate.audio = { ...mark, earliestPts: isNext ? audio.earliestPts : mark.pts }
}

/** Players need generated tables from the last split point on if they cannot use the recorded. */
export function checkTables(
  { sections, points }: SectionState,
  { program, served }: Streams['program'],
): void {
  const section = sections.at(-1)
  if (section === undefined || canServeVerbatim(program, served)) return
  // Bytes before the last split point may have been served already.
  section.ownFromSplitPoint ??= points.splitPoints.offsets.length - 1
}

/**
 * Adds a range of the file that belongs to no segment. Ranges come in order; adjacent ones are
 * joined.
 */
export function addHole({ holes }: SectionState, from: number, to: number): void {
  while (holes.length > 0 && (holes.at(-1) ?? 0) >= from) {
    holes.pop()
    from = Math.min(from, holes.pop() ?? from)
  }
  holes.push(from, to)
  checkLimit('corrupt-ranges', MAX_HOLES, holes.length / 2)
}

/** Adds a limitation. */
export function noteFlaw({ flaws }: SectionState, flaw: Limitation): void {
  if (flaws.length < MAX_FLAWS) flaws.push(flaw)
}

/** Adds a jump of the clock, in ticks. */
export function noteGap(
  state: SectionState,
  [from, to]: [number, number],
  offsetBytes: number,
): void {
  const jumpSeconds = Math.round((to - from) / PES_TIMESCALE)
  noteFlaw(state, { code: 'gap', jumpSeconds, offsetBytes })
}

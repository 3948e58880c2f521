// What the scan knows while it goes through a file: a plain object that packets are fed to.
import type { Limitation } from '../../../problem.ts'
import { createPesStart, MAX_PES_HEADER_BYTES, PES_TIMESCALE } from '../packets/pes.ts'
import type { PesStart } from '../packets/pes.ts'
import { PID_COUNT } from '../packets/packet.ts'
import { ALL, STARTS, UNKNOWN_COUNTER } from '../packets/packet-walk.ts'
import { FRAME_SEARCH_BYTES } from '../packets/frame-start.ts'
import type { FrameKind, FrameScan } from '../packets/frame-start.ts'
import { PAT_PID } from '../packets/program-table.ts'
import { canServeVerbatim } from './served-program.ts'
import type { KnownAudioTracks, Program, ServedStreams } from './served-program.ts'
import type { AudioConfig } from '../packets/audio-frame.ts'
import { createSectionGatherer } from '../packets/table-section.ts'
import type { SectionGatherer } from '../packets/table-section.ts'

/** Bytes of sound in which its first frame is looked for. */
const AUDIO_SEARCH_BYTES = 8 * 1024

/** What the probe found, as plain values. */
export interface ScanOptions {
  packetBytes: number
  start: number
  program: Program
  served: ServedStreams
  audioTracks: KnownAudioTracks
}

/** Parallel arrays, one entry a cut. Times are unwrapped ticks of the recording's own clock. */
export interface SplitPointList {
  offsets: number[]
  pts: number[]
  carryBytes: number[]
  counters: number[]
  flags: number[]
}

/** A stretch of the recording with one timeline, one set of tables and one set of parameters. */
export interface ScanSection {
  firstSplitPoint: number
  program: Program
  served: ServedStreams
  /** The cut from which on players need tables of our own; undefined where all tables in it can be left as they are. */
  ownFromSplitPoint: number | undefined
  /** Whether its clock goes on from the section before. */
  continues: boolean
  /** Whether the promised sound is there, which decides what the tables in front of its segments list. */
  promise: 'waiting' | 'kept' | 'broken'
  track: AudioConfig | undefined
  sps: Uint8Array | undefined
  parameterSets: Uint8Array | undefined
  /** The time at which it begins; fixed with its second cut, since that cut's time counts from it. */
  earliestPts: number
  earliestIsFixed: boolean
  firstDts: number
  lastDts: number
  latestFramePts: number
  frameTicks: number
  /** The latest PES packet of the sound. */
  audio: AudioMark | undefined
  /** Where that PES packet ends, once it cannot grow any more. */
  audioEndPts: number | undefined
}

export interface AudioMark {
  position: number
  pts: number
}

/** Sound that waits for the section it will belong to. */
type WaitingAudio = AudioMark & { earliestPts: number }

/** Why packets wait for the next key frame, and since where. */
interface Gate {
  reason: 'start' | 'jump' | 'program'
  from: number
  counters: number
  /** A picture that cannot be decoded came since, so the section begins at the key frame. */
  sawFrame: boolean
  audio: WaitingAudio | undefined
}

/** A PES packet at which a segment may begin. Times are unwrapped ticks. */
export interface Entry {
  position: number
  pts: number
  dts: number
  flags: number
  counters: number
  carryBytes: number
  carryIsOpen: boolean
  sps: Uint8Array | undefined
  parameterSets: Uint8Array | undefined
}

/**
 * A picture whose time does not follow the ones before: the next picture tells whether the clock has jumped, or one stamp
 * is wrong. `late`: it does follow, but so late that its stamp may be wrong.
 */
export interface Jump {
  reason: 'jumped' | 'late'
  entry: Entry
  kind: FrameKind
  /** No packet of the video is missing before it, so that it can be decoded although it is no key frame. */
  goesOn: boolean
  /** Sound in front of the picture that jumped with it. */
  lead: AudioMark | undefined
  audio: WaitingAudio | undefined
}

/** More flaws of one recording are not noted. */
const MAX_FLAWS = 95

export interface ScanState {
  options: ScanOptions
  interest: Uint8Array
  /** Continuity counters by PID, kept by the walk. */
  lastCounters: Uint8Array
  program: Program
  served: ServedStreams
  patGatherer: SectionGatherer
  pmtGatherer: SectionGatherer
  /** Continuity counters of the last PAT (high four bits) and PMT. */
  counters: number
  frame: {
    pes: PesStart
    scan: FrameScan | undefined
    isOpen: boolean
    goesOn: boolean
    counters: number
    /** Sound that goes on behind the picture's start: see TsSource.carryBytes. */
    carryBytes: number
    carryIsOpen: boolean
  }
  /** `track`: the sound as its frames describe it, once one was seen. */
  audio: { pes: PesStart; isOpen: boolean; isMarked: boolean; track: AudioConfig | undefined }
  /** Last time that was accepted, from which the 33-bit clock is unwrapped. */
  reference: number | undefined
  gate: Gate | undefined
  jump: Jump | undefined
  /** A section is to begin at the next key frame, because other sound is served from there on. */
  wantsSection: boolean
  sections: ScanSection[]
  splitPoints: SplitPointList
  lastSplitPointPts: number
  /** Time of the last cut that is not in mid-GOP. */
  lastMainSplitPointPts: number
  /** Whether the last cut's carry is not known in whole yet. */
  splitCarryIsOpen: boolean
  /** Sound since the last picture that does not fit the pictures' clock: the pictures may jump there, too. */
  stray: AudioMark | undefined
  /** Time of the first sound since the last picture. */
  pauseFrom: number | undefined
  /** Pairs of first byte and end. */
  holes: number[]
  /** Decode time of the last IDR or IRAP picture; undefined before the first. */
  lastKeyDts: number | undefined
  /** Whether recovery points count as key frames, because no other has come for long. */
  takesRecovery: boolean
  counts: { frames: number; scrambled: number }
  flaws: Limitation[]
}

/** A scan without what the index holds anyway, and with its buffers cut to what is in them. */
export interface StoredScan {
  position: number
  state: Omit<ScanState, 'interest' | 'lastCounters' | 'splitPoints'>
  /** Levels of interest and continuity counters of the PIDs that are looked at. */
  watched: { pid: number; level: number; counter: number }[]
  /** The first so many cuts of the index are the scan's. */
  splitPointCount: number
  /** Per section: ticks of the recording's clock at the start of the session's timeline. */
  shifts: number[]
}

export function createScanState(options: ScanOptions): ScanState {
  const { program, served } = options
  const state: ScanState = {
    options,
    interest: new Uint8Array(PID_COUNT),
    lastCounters: new Uint8Array(PID_COUNT).fill(UNKNOWN_COUNTER),
    program,
    served,
    patGatherer: createSectionGatherer(),
    pmtGatherer: createSectionGatherer(),
    counters: 0xff,
    frame: {
      pes: createPesStart(FRAME_SEARCH_BYTES),
      scan: undefined,
      isOpen: false,
      goesOn: false,
      counters: 0xff,
      carryBytes: 0,
      carryIsOpen: false,
    },
    audio: {
      pes: createPesStart(MAX_PES_HEADER_BYTES + AUDIO_SEARCH_BYTES),
      isOpen: false,
      isMarked: false,
      track: undefined,
    },
    reference: undefined,
    gate: undefined,
    jump: undefined,
    wantsSection: false,
    sections: [],
    splitPoints: { offsets: [], pts: [], carryBytes: [], counters: [], flags: [] },
    lastSplitPointPts: -Infinity,
    lastMainSplitPointPts: -Infinity,
    splitCarryIsOpen: false,
    stray: undefined,
    pauseFrom: undefined,
    holes: [],
    lastKeyDts: undefined,
    takesRecovery: true,
    counts: { frames: 0, scrambled: 0 },
    flaws: [],
  }
  state.gate = createGate(state, 'start', options.start)
  watchProgram(state)
  return state
}

export function createGate(state: ScanState, reason: Gate['reason'], from: number): Gate {
  return { reason, from, counters: state.counters, sawFrame: false, audio: undefined }
}

/** Sets the interest in PIDs to the program at hand, from nothing. */
export function watchProgram(state: ScanState): void {
  const { interest, lastCounters, served, program } = state
  interest.fill(0)
  if (served.audio !== undefined) interest[served.audio.pid] = STARTS
  if (served.video !== undefined) interest[served.video.pid] = STARTS
  interest[program.pmtPid] = ALL
  interest[PAT_PID] = ALL
  interest.forEach((level, pid) => {
    if (level === 0) lastCounters[pid] = UNKNOWN_COUNTER
  })
}

/** Notes what cannot be served as it was meant. */
export function noteFlaw({ flaws }: ScanState, flaw: Limitation): void {
  if (flaws.length < MAX_FLAWS) flaws.push(flaw)
}

/** Notes that the clock jumps from one time to another, in ticks. */
export function noteGap(state: ScanState, [from, to]: [number, number], offsetBytes: number): void {
  const jumpSeconds = Math.round((to - from) / PES_TIMESCALE)
  noteFlaw(state, { code: 'gap', jumpSeconds, offsetBytes })
}

export function isVerbatim(state: ScanState): boolean {
  return canServeVerbatim(state.program, state.served)
}

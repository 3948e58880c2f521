// What the machines of a scan keep from packet to packet, as plain values, in the order in which
// packets pass them, and the form in which an index stores it.
import type { Limitation } from '../../../base/problem.ts'
import type { SetsScan } from '../../codec/parameter-sets.ts'
import type { AudioConfig } from '../packets/audio-frame.ts'
import type { FrameKind, FrameScan } from '../packets/frame-start.ts'
import type { PesStart } from '../packets/pes.ts'
import type { SectionGatherer } from '../packets/table-section.ts'
import type { KnownAudioTracks, Program, ServedStreams } from './served-program.ts'

/** The result of the probe, as plain values. */
export interface ScanOptions {
  packetBytes: number
  start: number
  program: Program
  served: ServedStreams
  audioTracks: KnownAudioTracks
}

export interface ScanState {
  options: ScanOptions
  watch: Watch
  program: ProgramState
  frame: FrameState
  audio: AudioState
  clock: ClockState
  sections: SectionState
  counts: ScanCounts
}

interface ScanCounts {
  frames: number
  scrambled: number
}

export interface Watch {
  /** Levels of interest by PID; the walk reads them. */
  interest: Uint8Array
  /** Continuity counters by PID; the walk updates them. */
  lastCounters: Uint8Array
}

/** See program.ts. */
export interface ProgramState {
  program: Program
  served: ServedStreams
  patGatherer: SectionGatherer
  pmtGatherer: SectionGatherer
  /** Continuity counters of the last PAT (high four bits) and PMT. */
  counters: number
}

/** See frames.ts: the frame that is being gathered. */
export interface FrameState {
  pes: PesStart
  scan: FrameScan | undefined
  isOpen: boolean
  goesOn: boolean
  counters: number
  /** Audio that continues after the start of the frame: see TsSource.carryBytes. */
  carryBytes: number
  carryIsOpen: boolean
}

/** A PES packet at which a segment may begin. The clock unwraps its times, which have 33 bits. */
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
  /** All parameter sets of the frame. */
  sets: Uint8Array[]
}

/** See audio-marks.ts: the PES packet that is being gathered. */
export interface AudioState {
  pes: PesStart
  isOpen: boolean
  isMarked: boolean
  /** The configuration in its frames, once one was seen. */
  track: AudioConfig | undefined
}

/** A PES packet of audio. Times are unwrapped ticks of the recording's clock. */
export interface AudioMark {
  position: number
  pts: number
}

/** Audio that waits for its section. */
type WaitingAudio = AudioMark & { earliestPts: number }

/**
 * A frame whose time does not follow: the next frame shows whether the clock has jumped, or one
 * stamp is wrong. `late`: it follows, but so late that its stamp may be wrong.
 */
export interface Jump {
  reason: 'jumped' | 'late'
  entry: Entry
  kind: FrameKind
  /** See Frame. */
  goesOn: boolean
  /** Audio before the frame that jumped with it. */
  lead: AudioMark | undefined
  audio: WaitingAudio | undefined
}

/** See clock.ts. */
export interface ClockState {
  /** Last accepted time, from which the 33-bit clock is unwrapped. */
  reference: number | undefined
  jump: Jump | undefined
  /**
   * Audio since the last frame that does not fit the clock of the video, which may jump there, too.
   */
  stray: AudioMark | undefined
  /** Time of the first audio since the last frame. */
  pauseFrom: number | undefined
  /** Decode time of the last IDR or IRAP frame; undefined before the first. */
  lastKeyDts: number | undefined
  /** Whether recovery points count as key frames, because no other has come for long. */
  takesRecovery: boolean
}

/**
 * Parallel arrays, one entry per split point. Times are unwrapped ticks of the recording's clock.
 */
export interface SplitPointList {
  offsets: number[]
  pts: number[]
  carryBytes: number[]
  counters: number[]
  flags: number[]
}

/** See split-points.ts. */
export interface SplitPointState {
  splitPoints: SplitPointList
  lastSplitPointPts: number
  /** Time of the last split point that is not forced. */
  lastMainSplitPointPts: number
  /** Whether the carry of the last split point is incomplete. */
  splitCarryIsOpen: boolean
}

/** A part of the recording with one clock, one set of tables and one set of parameters. */
export interface ScanSection {
  firstSplitPoint: number
  program: Program
  served: ServedStreams
  /**
   * The split point from which players need generated tables; undefined if all its tables can stay.
   */
  ownFromSplitPoint: number | undefined
  /** Whether it continues the clock of the previous section. */
  continues: boolean
  /**
   * Whether the listed audio is present, which decides what the tables before its segments list.
   */
  promise: 'waiting' | 'kept' | 'broken'
  track: AudioConfig | undefined
  sps: Uint8Array | undefined
  parameterSets: Uint8Array | undefined
  /**
   * The time at which it begins; final with its second split point, whose time is relative to it.
   */
  earliestPts: number
  earliestIsFixed: boolean
  firstDts: number
  lastDts: number
  latestFramePts: number
  frameTicks: number
  /** The latest PES packet of audio. */
  audio: AudioMark | undefined
  /** End of that PES packet, once it cannot grow. */
  audioEndPts: number | undefined
}

/** Why, and since where, packets wait for the next key frame. */
export interface Gate {
  reason: 'start' | 'jump' | 'program'
  from: number
  counters: number
  /** A frame that cannot be decoded came since, so the section begins at the key frame. */
  sawFrame: boolean
  audio: WaitingAudio | undefined
}

/** See sections.ts. */
export interface SectionState {
  sections: ScanSection[]
  points: SplitPointState
  gate: Gate | undefined
  /** A section begins at the next key frame, because other audio is served from there on. */
  wantsSection: boolean
  /** Pairs of first byte and end. */
  holes: number[]
  /** Parameter sets in force, and those that key frames lack. */
  sets: SetsScan
  flaws: Limitation[]
}

/** A scan that may continue: its state, and the position of the next packet. */
export interface ScanRun {
  state: ScanState
  position: number
}

/** A scan without what the index has, and with trimmed buffers. */
export interface StoredScan {
  position: number
  state: StoredState
  watched: StoredWatch
  /** The number of split points of the index that belong to the scan. */
  splitPointCount: number
  /** Per section: ticks of the recording's clock at the start of the session. */
  shifts: number[]
}

interface StoredState
  extends
    Pick<ScanState, 'options' | 'frame' | 'audio' | 'counts'>,
    ProgramState,
    ClockState,
    Omit<SectionState, 'points'>,
    Omit<SplitPointState, 'splitPoints'> {}

/** The PIDs of interest. */
export type StoredWatch = { pid: number; level: number; counter: number }[]

// The state of a scan: a plain object that processes packets.
import type { Limitation } from '../../../base/problem.ts'
import { createSetsScan } from '../../codec/sets-scan.ts'
import type { SetsScan } from '../../codec/sets-scan.ts'
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

/** Bytes of audio in which its first frame is expected. */
const AUDIO_SEARCH_BYTES = 8 * 1024

/** The result of the probe, as plain values. */
export interface ScanOptions {
  packetBytes: number
  start: number
  program: Program
  served: ServedStreams
  audioTracks: KnownAudioTracks
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

export interface AudioMark {
  position: number
  pts: number
}

/** Audio that waits for its section. */
type WaitingAudio = AudioMark & { earliestPts: number }

/** Why, and since where, packets wait for the next key frame. */
interface Gate {
  reason: 'start' | 'jump' | 'program'
  from: number
  counters: number
  /** A frame that cannot be decoded came since, so the section begins at the key frame. */
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
  /** All parameter sets of the frame. */
  sets: Uint8Array[]
}

/**
 * A frame whose time does not follow: the next frame shows whether the clock has jumped, or one
 * stamp is wrong. `late`: it follows, but so late that its stamp may be wrong.
 */
export interface Jump {
  reason: 'jumped' | 'late'
  entry: Entry
  kind: FrameKind
  /**
   * No packet of video is missing before it, so it can be decoded although it is not a key frame.
   */
  goesOn: boolean
  /** Audio before the frame that jumped with it. */
  lead: AudioMark | undefined
  audio: WaitingAudio | undefined
}

/** Further limitations of one recording are dropped. */
const MAX_FLAWS = 95

export interface ScanState {
  options: ScanOptions
  interest: Uint8Array
  /** Continuity counters by PID, updated by the walk. */
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
    /** Audio that continues after the start of the frame: see TsSource.carryBytes. */
    carryBytes: number
    carryIsOpen: boolean
  }
  /** `track`: the configuration in its frames, once one was seen. */
  audio: { pes: PesStart; isOpen: boolean; isMarked: boolean; track: AudioConfig | undefined }
  /** Last accepted time, from which the 33-bit clock is unwrapped. */
  reference: number | undefined
  gate: Gate | undefined
  jump: Jump | undefined
  /** A section begins at the next key frame, because other audio is served from there on. */
  wantsSection: boolean
  sections: ScanSection[]
  splitPoints: SplitPointList
  lastSplitPointPts: number
  /** Time of the last split point that is not forced. */
  lastMainSplitPointPts: number
  /** Whether the carry of the last split point is incomplete. */
  splitCarryIsOpen: boolean
  /**
   * Audio since the last frame that does not fit the clock of the video, which may jump there, too.
   */
  stray: AudioMark | undefined
  /** Time of the first audio since the last frame. */
  pauseFrom: number | undefined
  /** Pairs of first byte and end. */
  holes: number[]
  /** Decode time of the last IDR or IRAP frame; undefined before the first. */
  lastKeyDts: number | undefined
  /** Whether recovery points count as key frames, because no other has come for long. */
  takesRecovery: boolean
  /** Parameter sets in force, and those that key frames lack. */
  sets: SetsScan
  counts: { frames: number; scrambled: number }
  flaws: Limitation[]
}

/** A scan without what the index has, and with trimmed buffers. */
export interface StoredScan {
  position: number
  state: Omit<ScanState, 'interest' | 'lastCounters' | 'splitPoints'>
  /** Levels of interest and continuity counters of the watched PIDs. */
  watched: { pid: number; level: number; counter: number }[]
  /** The number of split points of the index that belong to the scan. */
  splitPointCount: number
  /** Per section: ticks of the recording's clock at the start of the session. */
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
    sets: createSetsScan(),
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

/** Resets the interest in PIDs to the current program. */
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

/** Adds a limitation. */
export function noteFlaw({ flaws }: ScanState, flaw: Limitation): void {
  if (flaws.length < MAX_FLAWS) flaws.push(flaw)
}

/** Adds a jump of the clock, in ticks. */
export function noteGap(state: ScanState, [from, to]: [number, number], offsetBytes: number): void {
  const jumpSeconds = Math.round((to - from) / PES_TIMESCALE)
  noteFlaw(state, { code: 'gap', jumpSeconds, offsetBytes })
}

export function isVerbatim(state: ScanState): boolean {
  return canServeVerbatim(state.program, state.served)
}

// What the scan knows while it goes through a file: a plain object that packets are fed to.
import { MAX_PES_HEADER_BYTES, createPesStart, PES_TIMESCALE } from './pes.ts'
import type { PesStart } from './pes.ts'
import { PID_COUNT } from './packet.ts'
import { ALL, STARTS } from './packet-walk.ts'
import { PICTURE_SEARCH_BYTES } from './picture-start.ts'
import type { PictureScan } from './picture-start.ts'
import { PAT_PID } from './program-table.ts'
import { canServeVerbatim } from './served-program.ts'
import type { FrameTest, Program, ServedStreams } from './served-program.ts'
import { createSectionGatherer } from './table-section.ts'
import type { SectionGatherer } from './table-section.ts'

/** Time stamps that go back further, or on further, than this have jumped. */
const MAX_BACK_TICKS = PES_TIMESCALE
export const MAX_FORWARD_TICKS = 10 * PES_TIMESCALE
/** Key frames nearer than this to the cut before are no cuts of their own: about one a second is enough. */
export const MIN_CUT_TICKS = 0.9 * PES_TIMESCALE

export interface ScanOptions {
  packetBytes: number
  start: number
  program: Program
  served: ServedStreams
  framesOf: FrameTest
  /** Whether recovery points count as key frames. */
  recoveryPoints: 'cut' | 'pass'
}

/** Parallel arrays, one entry a cut. Times are unwrapped ticks of the recording's own clock. */
export interface CutList {
  offsets: number[]
  pts: number[]
  carryBytes: number[]
  counters: number[]
  isKey: boolean[]
}

/** A stretch of the recording with one timeline, one set of tables and one set of parameters. */
export interface ScanSection {
  firstCut: number
  program: Program
  served: ServedStreams
  /** Whether all tables seen in it can be left as they are. */
  isVerbatim: boolean
  /** Whether its clock goes on from the section before. */
  continues: boolean
  sps: Uint8Array | undefined
  parameterSets: Uint8Array | undefined
  earliestPts: number
  lastDts: number
  latestPicturePts: number
  frameTicks: number
  /** The latest PES packet of the sound. */
  sound: SoundMark | undefined
}

export interface SoundMark {
  position: number
  pts: number
}

/** Why packets wait for the next key frame, and since where. */
interface Gate {
  reason: 'start' | 'jump' | 'program'
  from: number
  counters: number
  /** A picture that is no key frame came since: it cannot be decoded, so the section begins at the key frame. */
  sawPicture: boolean
  sound: (SoundMark & { earliestPts: number }) | undefined
}

export interface ScanState {
  options: ScanOptions
  interest: Uint8Array
  program: Program
  served: ServedStreams
  patGatherer: SectionGatherer
  pmtGatherer: SectionGatherer
  /** Continuity counters of the last PAT (high four bits) and PMT. */
  counters: number
  picture: {
    pes: PesStart
    scan: PictureScan | undefined
    isOpen: boolean
    counters: number
    /** Sound that goes on behind the picture's start: see TsSource.carryBytes. */
    carryBytes: number
    carryIsOpen: boolean
  }
  sound: { pes: PesStart; isOpen: boolean }
  /** Last decode time that was accepted, from which the 33-bit clock is unwrapped. */
  reference: number | undefined
  gate: Gate | undefined
  sections: ScanSection[]
  cuts: CutList
  /** Whether the last cut's carry is not known in whole yet. */
  cutCarryIsOpen: boolean
  /** Sound since the last picture that does not fit the pictures' clock: the pictures may jump there, too. */
  stray: SoundMark | undefined
  /** Sound since the last picture, about one second apart: cuts, if no picture comes any more. */
  tail: SoundMark[]
  /** Pairs of first byte and end. */
  holes: number[]
  counts: {
    pictures: number
    sounds: number
    keys: number
    recoveryPoints: number
    scrambled: number
    lastKeyPts: number
    /** Longest time without a key frame in which a recovery point came. */
    longestWaitTicks: number
  }
}

export function createScanState(options: ScanOptions): ScanState {
  const { program, served } = options
  const interest = new Uint8Array(PID_COUNT)
  const state: ScanState = {
    options,
    interest,
    program,
    served,
    patGatherer: createSectionGatherer(),
    pmtGatherer: createSectionGatherer(),
    counters: 0xff,
    picture: {
      pes: createPesStart(PICTURE_SEARCH_BYTES),
      scan: undefined,
      isOpen: false,
      counters: 0xff,
      carryBytes: 0,
      carryIsOpen: false,
    },
    sound: { pes: createPesStart(MAX_PES_HEADER_BYTES), isOpen: false },
    reference: undefined,
    gate: undefined,
    sections: [],
    cuts: { offsets: [], pts: [], carryBytes: [], counters: [], isKey: [] },
    cutCarryIsOpen: false,
    stray: undefined,
    tail: [],
    holes: [],
    counts: {
      pictures: 0,
      sounds: 0,
      keys: 0,
      recoveryPoints: 0,
      scrambled: 0,
      lastKeyPts: -Infinity,
      longestWaitTicks: 0,
    },
  }
  state.gate = createGate(state, 'start', options.start)
  watchProgram(state)
  return state
}

export function createGate(state: ScanState, reason: Gate['reason'], from: number): Gate {
  return { reason, from, counters: state.counters, sawPicture: false, sound: undefined }
}

/** Sets the interest in PIDs to the program at hand, from nothing. */
export function watchProgram(state: ScanState): void {
  const { interest, served, program } = state
  interest.fill(0)
  if (served.audio !== undefined) interest[served.audio.pid] = STARTS
  if (served.video !== undefined) interest[served.video.pid] = STARTS
  interest[program.pmtPid] = ALL
  interest[PAT_PID] = ALL
}

export function isVerbatim(state: ScanState): boolean {
  return canServeVerbatim(state.program, state.served)
}

/** Whether `ticks` can follow `last` on one clock. */
export function follows(ticks: number, last: number): boolean {
  return ticks - last >= -MAX_BACK_TICKS && ticks - last <= MAX_FORWARD_TICKS
}

/** Whether both can stand beside each other on one clock. */
export function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= MAX_FORWARD_TICKS
}

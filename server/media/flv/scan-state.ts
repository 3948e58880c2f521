// What is known while an FLV file is gone through: a plain state that can be kept, and lists that only grow.
import { startWalk } from './tag-walk.ts'
import type { WalkState } from './tag-walk.ts'
import type { FlvSection, FlvSetUp, FlvSource } from './flv-source.ts'
import type { CutTable } from '../media-index.ts'

/** One frame of a served track. */
export interface Mark {
  kind: 'picture' | 'sound'
  /** Of its tag. */
  position: number
  /** Decode time as written. */
  rawMs: number
  /** Presentation minus decode time; 0 for sound. */
  compositionMs: number
  isKey: boolean
  /** Length of sound in samples; 0 for pictures. */
  ticks: number
  /** Number of its set-up. */
  setUp: number
}

/** A track's clock: session time = time as written + `shiftMs`. */
export interface TrackState {
  /** The track of several that is served, once one was found. */
  trackId: number | undefined
  /** Set-up in force. */
  setUp: number | undefined
  shiftMs: number
  /** Session decode time of its last frame; undefined where the next one need not follow any. */
  lastMs: number | undefined
}

export interface ScanState {
  walk: WalkState
  /**
   * `waiting` for a frame that a section can begin with; `opening` one, until the sound beside the pictures is seen;
   * `running`; in `doubt`, as the sound has jumped and the pictures have yet to tell whether they did, too.
   */
  mode: 'waiting' | 'opening' | 'running' | 'doubt'
  /** Frames that wait for the decision. */
  pending: Mark[]
  /** Whether only a key frame can begin the next section. */
  needsKey: boolean
  /** Whether pictures were left out while waiting. */
  sawPicture: boolean
  /** Whether a file header lies between the last section and what comes. */
  isNewFile: boolean
  /** Whether a set-up has come since the last picture: a new connection, where pictures do not go on in mid-GOP. */
  isFresh: boolean
  video: TrackState
  sound: TrackState
  /** What all sound of the recording has in common: one transcoding, or none. */
  soundForm: string | undefined
  /** Where the sound ends, in samples since the session's start; NaN where nothing is before it. */
  soundEndTicks: number
  frameMs: number
  latestPictureMs: number
  lastKeyMs: number
  /** Whether the section's first picture lies in its first cut. */
  firstCutHoldsPicture: boolean
  lastCutMs: number
  lastKeyCutMs: number
  /** Where pictures and sound end, in session time. */
  endMs: number
  counts: ScanCounts
  /** Lengths of the lists below. */
  lengths: {
    cuts: number
    sections: number
    setUps: number
    videoClock: number
    soundClock: number
  }
}

/** What is told where a recording cannot be played. */
export interface ScanCounts {
  pictures: number
  encrypted: number
  setUpBytes: number
  otherVideo: string | undefined
  otherSound: string | undefined
  /** Codec whose pictures came without a set-up that can be read. */
  bareVideo: string | undefined
}

/** Lists grow at their ends only. */
export interface Scan {
  state: ScanState
  cuts: {
    offsets: number[]
    startMs: number[]
    flags: number[]
    leadMs: number[]
    soundEnds: number[]
  }
  sections: FlvSection[]
  setUps: FlvSetUp[]
  videoClock: number[]
  soundClock: number[]
}

export function startScan(): Scan {
  return {
    state: startState(),
    cuts: { offsets: [], startMs: [], flags: [], leadMs: [], soundEnds: [] },
    sections: [],
    setUps: [],
    videoClock: [],
    soundClock: [],
  }
}

function startState(): ScanState {
  return {
    walk: startWalk(),
    mode: 'waiting',
    pending: [],
    needsKey: true,
    sawPicture: false,
    isNewFile: false,
    isFresh: false,
    video: startTrack(),
    sound: startTrack(),
    soundForm: undefined,
    soundEndTicks: NaN,
    frameMs: 0,
    latestPictureMs: 0,
    lastKeyMs: 0,
    firstCutHoldsPicture: false,
    lastCutMs: -1,
    lastKeyCutMs: -Infinity,
    endMs: 0,
    counts: {
      pictures: 0,
      encrypted: 0,
      setUpBytes: 0,
      otherVideo: undefined,
      otherSound: undefined,
      bareVideo: undefined,
    },
    lengths: { cuts: 0, sections: 0, setUps: 0, videoClock: 0, soundClock: 0 },
  }
}

function startTrack(): TrackState {
  return { trackId: undefined, setUp: undefined, shiftMs: 0, lastMs: undefined }
}

/** The state as it is now, to go on from later. */
export function keepState({ state, ...lists }: Scan): ScanState {
  const { cuts, sections, setUps, videoClock, soundClock } = lists
  return structuredClone({
    ...state,
    lengths: {
      cuts: cuts.offsets.length,
      sections: sections.length,
      setUps: setUps.length,
      videoClock: videoClock.length,
      soundClock: soundClock.length,
    },
  })
}

/** The scan as it was when its state was kept. */
export function resumeScan(source: FlvSource, cuts: CutTable): Scan {
  const state = structuredClone(source.resume)
  const { lengths } = state
  const first = (list: Iterable<number>, count: number) => Array.from(list).slice(0, count)
  return {
    state,
    cuts: {
      offsets: first(source.offsets, lengths.cuts),
      startMs: first(cuts.startTicks, lengths.cuts),
      flags: first(cuts.flags, lengths.cuts),
      leadMs: first(source.leadMs, lengths.cuts),
      soundEnds: first(source.soundEnds, lengths.cuts),
    },
    sections: source.sections.slice(0, lengths.sections).map((section) => ({ ...section })),
    setUps: source.setUps.slice(0, lengths.setUps),
    videoClock: first(source.videoClock, lengths.videoClock),
    soundClock: first(source.soundClock, lengths.soundClock),
  }
}

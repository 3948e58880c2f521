// What is known while an FLV file is gone through: its state, and lists that only grow.
import { MAX_NOTES } from '../media-index.ts'
import type { CutTable } from '../media-index.ts'
import type { FlvSection, FlvSetUp, FlvSource } from './flv-source.ts'
import type { Flaw, ScanState, TrackState } from './scan-progress.ts'
import { startWalk } from './tag-walk.ts'

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
    flaws: [],
    lengths: { cuts: 0, sections: 0, setUps: 0, videoClock: 0, soundClock: 0 },
  }
}

function startTrack(): TrackState {
  return { trackId: undefined, setUp: undefined, shiftMs: 0, lastMs: undefined }
}

/** Keeps a flaw, as long as there is room for it. */
export function noteFlaw({ state }: Scan, flaw: Flaw): void {
  if (state.flaws.length < MAX_NOTES) state.flaws.push(flaw)
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

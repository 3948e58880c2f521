// The scan of an FLV file: its state, and lists that only grow.
import { createSetsScan, resumeSetsScan } from '../codec/parameter-sets.ts'
import type { SetsScan } from '../codec/parameter-sets.ts'
import type { Limitation } from '../../base/problem.ts'
import { MAX_LIMITATIONS } from '../media-index.ts'
import type { SplitPointTable } from '../media-index.ts'
import { firstOf } from '../timeline/split-points.ts'
import { NO_FRAME } from './flv-source.ts'
import type { FlvConfig, FlvSection, FlvSource, ScanState, TrackState } from './flv-source.ts'
import { startWalk } from './tag-walk.ts'

/** Lists grow only at their ends. */
export interface Scan {
  state: ScanState
  splitPoints: {
    offsets: number[]
    startMs: number[]
    flags: number[]
    leadMs: number[]
    audioEnds: number[]
    sampleCounts: number[]
  }
  sections: FlvSection[]
  configs: FlvConfig[]
  videoClock: number[]
  audioClock: number[]
  sets: SetsScan
}

export function startScan(): Scan {
  return {
    state: startState(),
    splitPoints: {
      offsets: [],
      startMs: [],
      flags: [],
      leadMs: [],
      audioEnds: [],
      sampleCounts: [],
    },
    sections: [],
    configs: [],
    videoClock: [],
    audioClock: [],
    sets: createSetsScan(),
  }
}

function startState(): ScanState {
  return {
    walk: startWalk(),
    mode: 'waiting',
    pending: [],
    needsKey: true,
    sawFrame: false,
    isNewFile: false,
    isFresh: false,
    video: startTrack(),
    audio: startTrack(),
    setsInForce: { config: -1, sets: [] },
    audioForm: undefined,
    audioEndTicks: NaN,
    frameMs: 0,
    latestFrameMs: 0,
    lastKeyMs: 0,
    firstSplitPointHoldsFrame: false,
    lastSplitPointMs: -1,
    lastKeySplitPointMs: -Infinity,
    endMs: 0,
    counts: {
      samples: 0,
      frames: 0,
      encrypted: 0,
      configBytes: 0,
      otherVideo: undefined,
      otherAudio: undefined,
      bareVideo: undefined,
      furtherTracks: [],
    },
    flaws: [],
    lengths: { splitPoints: 0, sections: 0, configs: 0, videoClock: 0, audioClock: 0 },
  }
}

function startTrack(): TrackState {
  return { trackId: undefined, config: undefined, shiftMs: 0, lastMs: undefined }
}

/** Adds a limitation, up to the limit. */
export function noteFlaw({ state }: Scan, flaw: Limitation): void {
  if (state.flaws.length < MAX_LIMITATIONS) state.flaws.push(flaw)
}

/** The current state, to continue with later. */
export function keepState({ state, ...lists }: Scan): ScanState {
  const { splitPoints, sections, configs, videoClock, audioClock, sets } = lists
  return structuredClone({
    ...state,
    setsInForce: { ...state.setsInForce, sets: sets.inForce },
    lengths: {
      splitPoints: splitPoints.offsets.length,
      sections: sections.length,
      configs: configs.length,
      videoClock: videoClock.length,
      audioClock: audioClock.length,
    },
  })
}

/** The scan at the time of a stored state. */
export function resumeScan(source: FlvSource, splitPoints: SplitPointTable): Scan {
  const state = structuredClone(source.resume)
  const { lengths } = state
  const startMs = firstOf(splitPoints.startTicks, lengths.splitPoints)
  const leadMs = firstOf(source.leadMs, lengths.splitPoints)
  restoreLast(state, startMs, leadMs)
  return {
    state,
    splitPoints: {
      offsets: firstOf(source.offsets, lengths.splitPoints),
      startMs,
      flags: firstOf(splitPoints.flags, lengths.splitPoints),
      leadMs,
      audioEnds: firstOf(source.audioEnds, lengths.splitPoints),
      sampleCounts: firstOf(source.sampleCounts, lengths.splitPoints),
    },
    sections: source.sections.slice(0, lengths.sections).map((section) => ({ ...section })),
    configs: source.configs.slice(0, lengths.configs),
    videoClock: firstOf(source.videoClock, lengths.videoClock),
    audioClock: firstOf(source.audioClock, lengths.audioClock),
    sets: resumeSetsScan(source.sets, {
      inForce: state.setsInForce.sets,
      count: lengths.splitPoints,
    }),
  }
}

/** Tags after the stored state may have moved the last split point. */
function restoreLast({ lastSplitPointMs }: ScanState, startMs: number[], leadMs: number[]): void {
  const last = startMs.length - 1
  const lead = leadMs[last]
  if (last < 0 || lead === undefined) return
  if (lead !== NO_FRAME) leadMs[last] = lead + lastSplitPointMs - (startMs[last] ?? 0)
  startMs[last] = lastSplitPointMs
}

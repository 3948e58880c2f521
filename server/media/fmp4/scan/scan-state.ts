// The state of a scan through fragments: split points, sections, and the progress of each track.
import type { Track } from '../../media-index.ts'
import { createSetsScan } from '../../codec/parameter-sets.ts'
import type { SetsScan } from '../../codec/parameter-sets.ts'
import type { Fragment, TrackSamples } from '../fragments/fragment.ts'
import type {
  Fmp4Init,
  Fmp4Section,
  Fmp4Track,
  MoovSamples,
  SectionCause,
  TrackProgress,
} from '../fmp4-source.ts'

/** Samples with known decode times, of a served track. */
export interface TimedSamples extends TrackSamples {
  /** Position in `Fmp4Init.tracks`. */
  track: number
  decodeTicks: number
}

/**
 * Fragments that are split together: a fragment with video starts a group, and audio-only fragments
 * join it. So audio gets into the segment with the video of about its time, whether it is stored
 * before or after it.
 */
export interface Group {
  start: number
  fragments: TimedFragment[]
  /** Why a discontinuity precedes the group, if one does. */
  discontinuity: Exclude<SectionCause, 'start'> | undefined
  init: number
  hasVideo: boolean
  /** The state before the group, to read it again. */
  stateBefore: GrouperState
}

/** The state before a group. */
export interface GrouperState {
  init: number
  /** Hash of the current movie box. */
  movieHash: string
  progress: TrackProgress[]
  /** Some fragments have no decode times. */
  lacksDecodeTimes: boolean
}

export interface TimedFragment extends Pick<Fragment, 'start' | 'end' | 'isTruncated'> {
  runs: TimedSamples[]
  hasVideo: boolean
}

/** The split points so far. */
export interface SplitPointLists {
  offsets: number[]
  samplesBefore: number[]
  sampleCounts: number[]
  startTicks: number[]
  flags: number[]
  /** By track. */
  decodeTicks: number[][]
}

/** Mutable, for one scan. */
export interface ScanState {
  /** As in the index, including tracks without samples. */
  tracks: (Track | undefined)[]
  /** Match keys of the tracks, to find them in later movies. */
  keys: string[]
  inits: Fmp4Init[]
  moovSamples?: MoovSamples
  splitPoints: SplitPointLists
  splitGroupStarts: number[]
  splitGroupEnds: number[]
  sections: Fmp4Section[]
  pendingSection: SectionCause | undefined
  /**
   * In seconds after the last section's origin: the last split point, the last key frame, the
   * latest frame.
   */
  lastSplitPointSeconds: number
  lastKeySeconds: number
  latestFrameSeconds: number
  /** Parameter sets in the samples of the video. */
  sets: SetsScan
  /** Key frames whose start was read. */
  searchedFrames: number
  /** Tracks with samples before the first section settled; these stay served. */
  isServed: boolean[]
  isServedFinal: boolean
  /** Samples in all groups so far. */
  sampleCount: number
  /** Ticks per second of the split point table. */
  timescale: number
}

export function createScanState(
  { tracks, keys, init }: Pick<ScanState, 'tracks' | 'keys'> & { init: Fmp4Init },
  moovSamples: MoovSamples | undefined,
): ScanState {
  return {
    tracks,
    keys,
    inits: [init],
    ...(moovSamples && { moovSamples }),
    splitPoints: {
      offsets: [],
      samplesBefore: [],
      sampleCounts: [],
      startTicks: [],
      flags: [],
      decodeTicks: init.tracks.map(() => []),
    },
    splitGroupStarts: [],
    splitGroupEnds: [],
    sections: [],
    pendingSection: 'start',
    lastSplitPointSeconds: -Infinity,
    lastKeySeconds: -Infinity,
    latestFrameSeconds: -Infinity,
    sets: createSetsScan(),
    searchedFrames: 0,
    isServed: init.tracks.map(() => false),
    isServedFinal: false,
    sampleCount: 0,
    timescale: init.tracks[leadTrack(init)]?.timescale ?? 1,
  }
}

export function createProgress(count: number): TrackProgress[] {
  return Array.from({ length: count }, () => ({
    nextTicks: 0,
    endSeconds: NaN,
    origin: NaN,
    description: 0,
    isSeen: false,
  }))
}

/** The track that determines split points: the video, or the first audio track without video. */
export function leadTrack({ tracks }: Fmp4Init): number {
  const video = tracks.findIndex((track) => track?.kind === 'video')
  return video >= 0 ? video : tracks.findIndex((track) => track !== undefined)
}

/** Converts file ticks to output ticks, with the edit list applied. */
export function servedTicks(track: Fmp4Track, fileTicks: number): number {
  return fileTicks * track.tickScale + track.editTicks
}

/** Shift from the file's clock to the session timeline, in output ticks of a track. */
export function sessionShift(section: Fmp4Section, track: number, timescale: number): number {
  const { startSeconds, earliestSeconds, origins } = section
  return Math.round((startSeconds - earliestSeconds - (origins[track] ?? NaN)) * timescale)
}

/** Converts output ticks of a track to seconds after the section's origin. */
export function sectionSeconds(
  { origins }: Fmp4Section,
  track: { number: number; timescale: number },
  ticks: number,
): number {
  return ticks / track.timescale - (origins[track.number] ?? NaN)
}

/** Converts ticks to another timescale. */
export function rescale(ticks: number, from: number, to: number): number {
  return from === to ? ticks : Math.round((ticks / from) * to)
}

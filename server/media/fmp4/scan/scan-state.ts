// What reading fragments in order has found so far: cuts, sections, and how far each track has come.
import type { Track } from '../../media-index.ts'
import type { Fragment, TrackSamples } from '../fragments/fragment.ts'
import type {
  Fmp4Head,
  Fmp4Init,
  Fmp4Section,
  Fmp4Track,
  TrackProgress,
  Waiting,
} from '../fmp4-source.ts'

/** Samples whose time is known, of a track that is served. */
export interface TimedSamples extends TrackSamples {
  /** Number in `Fmp4Init.tracks`. */
  track: number
  decodeTicks: number
}

/**
 * Fragments that are cut together: those with pictures begin one, sound without pictures joins it. Wherever sound lies, before its
 * pictures or behind them, it so comes into the segment with pictures of about its time.
 */
export interface Group {
  start: number
  fragments: TimedFragment[]
  /** The group stands behind a break. */
  breaks: Exclude<Waiting, 'start'> | undefined
  init: number
  hasVideo: boolean
  /** What was known in front of the group: for who reads it again. */
  before: GathererStart
}

/** How reading goes on in front of a group. */
export interface GathererStart {
  init: number
  /** Hash of the movie box in force. */
  movieHash: string
  progress: TrackProgress[]
  /** Some fragments do not say when they are. */
  lacksTimes: boolean
}

export interface TimedFragment extends Pick<Fragment, 'start' | 'end' | 'isTruncated'> {
  runs: TimedSamples[]
  hasVideo: boolean
}

/** The cuts found so far. */
export interface SplitPointLists {
  offsets: number[]
  inside: number[]
  startTicks: number[]
  flags: number[]
  /** By track. */
  decodeTicks: number[][]
}

/** Mutable; belongs to one scan. */
export interface ScanState {
  /** As the index will list them, but for those that never come. */
  tracks: (Track | undefined)[]
  /** What the tracks are known by in later movies. */
  keys: string[]
  inits: Fmp4Init[]
  head?: Fmp4Head
  splitPoints: SplitPointLists
  innerStarts: number[]
  innerEnds: number[]
  sections: Fmp4Section[]
  waiting: Waiting | undefined
  /** Of the last section, in seconds behind its origin: the last cut, the last key frame, the latest picture. */
  lastSplitPointSeconds: number
  lastKeySeconds: number
  highestSeconds: number
  /** Tracks that had samples when the first section settled: these are served for good. */
  isServed: boolean[]
  isServedFixed: boolean
  /** Ticks per second of the cut table. */
  timescale: number
}

/** A state without cuts. */
export function createScanState(
  { tracks, keys, init }: Pick<ScanState, 'tracks' | 'keys'> & { init: Fmp4Init },
  head: Fmp4Head | undefined,
): ScanState {
  return {
    tracks,
    keys,
    inits: [init],
    ...(head && { head }),
    splitPoints: {
      offsets: [],
      inside: [],
      startTicks: [],
      flags: [],
      decodeTicks: init.tracks.map(() => []),
    },
    innerStarts: [],
    innerEnds: [],
    sections: [],
    waiting: 'start',
    lastSplitPointSeconds: -Infinity,
    lastKeySeconds: -Infinity,
    highestSeconds: -Infinity,
    isServed: init.tracks.map(() => false),
    isServedFixed: false,
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

/** The track that makes the cuts: the pictures, or the first sound where there are none. */
export function leadTrack({ tracks }: Fmp4Init): number {
  const video = tracks.findIndex((track) => track?.kind === 'video')
  return video >= 0 ? video : tracks.findIndex((track) => track !== undefined)
}

/** Presentation time in served ticks, on the file's clock: edit list applied, section not. */
export function servedTicks(track: Fmp4Track, fileTicks: number): number {
  return fileTicks * track.tickScale + track.editTicks
}

/** What lays a track's served ticks of the file's clock on the session's timeline. */
export function sessionShift(section: Fmp4Section, track: number, timescale: number): number {
  const { startSeconds, earliestSeconds, origins } = section
  return Math.round((startSeconds - earliestSeconds - (origins[track] ?? NaN)) * timescale)
}

/** Seconds behind the section's origin of a time in a track's served ticks. */
export function sectionSeconds(
  { origins }: Fmp4Section,
  track: { number: number; timescale: number },
  ticks: number,
): number {
  return ticks / track.timescale - (origins[track.number] ?? NaN)
}

/** Ticks of one timescale in another. */
export function rescale(ticks: number, from: number, to: number): number {
  return from === to ? ticks : Math.round((ticks / from) * to)
}

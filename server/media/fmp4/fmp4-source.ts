// Where the fragments of an MP4 lie, cut by cut, and how its clocks are laid on the session's timeline.
import type { FragmentDefaults } from '../mp4/boxes/fragment-defaults.ts'
import type { Mp4Description, Mp4Track } from '../mp4/mp4-source.ts'

/** Source of a MediaIndex made from fragmented MP4. Plain values; grows with the number of cuts, not of fragments. */
export interface Fmp4Source {
  container: 'fmp4'
  /** Size of the file when it was indexed: samples behind it are not looked at. */
  sizeBytes: number
  /** Position of each cut's fragment, and how many of its pictures (or sounds) come before the cut: mostly 0. */
  offsets: Float64Array
  inside: Uint32Array
  /** Where groups of fragments end that have cuts inside, by their start; in order. */
  innerStarts: Float64Array
  innerEnds: Float64Array
  /** Next decode time at each cut, by track, in the file's ticks; absent where all fragments tell their own. */
  decodeTicks?: Float64Array[]
  /** From break to break, in order; the first begins at cut 0. */
  sections: Fmp4Section[]
  inits: Fmp4Init[]
  /** What the tracks of the first are known by in later movies. */
  keys: string[]
  /** Numbers in `Fmp4Init.tracks` of the tracks that the index lists. */
  served: number[]
  /** Samples that the movie box itself lists, in front of all fragments; by track as in `Fmp4Init.tracks`. */
  head?: Fmp4Head
  /** What the next reading of a recording that has grown goes on with. */
  resume: Fmp4Resume
}

/** What a movie box says. */
export interface Fmp4Init {
  /** Pictures first, then sound; undefined where this movie has no such track. */
  tracks: (Fmp4Track | undefined)[]
}

export interface Fmp4Track {
  kind: 'video' | 'audio'
  id: number
  /** Ticks per second in the file, and of what is served: the same times `tickScale`. */
  fileTimescale: number
  timescale: number
  tickScale: number
  /** What the edit list adds to presentation times, in served ticks. */
  editTicks: number
  defaults: FragmentDefaults
  /** By sample entry, from 0; undefined where nobody plays it. */
  descriptions: (Mp4Description | undefined)[]
  /** Of uncompressed sound: so many samples are handed on as one packet. */
  packetSamples?: number
  matrix?: Int32Array
  width: number
  height: number
}

/** Where the samples of the movie box lie. */
export interface Fmp4Head {
  /** Position of the movie box, which stands for a fragment. */
  start: number
  end: number
  /** Some of its samples are not in the file. */
  isTruncated: boolean
  tracks: (Mp4Track | undefined)[]
}

/** A stretch of the recording on one clock and with one codec configuration. */
export interface Fmp4Section {
  firstSplitPoint: number
  init: number
  /** Sample entry in force, by track, from 1; 0 where the track has no samples here. */
  descriptions: number[]
  /** Bytes of the section. */
  start: number
  end: number
  /** Second of the session at which it starts. */
  startSeconds: number
  /**
   * By track: second of the file's clock that counts as 0 in this section; NaN where the track was not seen. The same
   * for all tracks that share a clock.
   */
  origins: number[]
  /** Earliest and latest time of the section's samples, in seconds behind the origin. */
  earliestSeconds: number
  latestSeconds: number
  /** How far decode times are put back so that no picture is shown before it is decoded, in served ticks of the video. */
  leadTicks: number
  /** `earliestSeconds` and `leadTicks` are final. */
  isSettled: boolean
  /** Cuts whose time waits for that, in served ticks of the track they were made by. */
  waitingSplitPoints: { track: number; ticks: number }[]
}

/** How far a track has been read. */
export interface TrackProgress {
  /** Decode time of the next sample, in the file's ticks. */
  nextTicks: number
  /** Since the last break: end of what was read in seconds of the file's clock, and its origin; NaN where nothing was. */
  endSeconds: number
  origin: number
  /** Sample entry of what was read last, from 1; 0 where nothing was. */
  description: number
  isSeen: boolean
}

/** State in front of the last group of fragments: all that is kept is what lies before it. */
export interface Fmp4Resume {
  /** Where reading goes on. */
  position: number
  splitPointCount: number
  innerCount: number
  sectionCount: number
  /** The last section as it was. */
  lastSection?: Fmp4Section
  progress: TrackProgress[]
  /** Init in force, and a hash of its movie box. */
  init: number
  movieHash: string
  lacksTimes: boolean
  /** What reading waits for before it makes cuts again. */
  waiting?: Waiting
  /** Of the last section, in seconds behind its origin: the last cut, the last key frame, the latest picture. */
  lastSplitPointSeconds: number
  lastKeySeconds: number
  highestSeconds: number
  /** Tracks that are served; final or not. */
  isServed: boolean[]
  isServedFixed: boolean
}

/** For the first picture of the recording, of a new clock, or of a new codec configuration. */
export type Waiting = 'start' | 'jump' | 'init'

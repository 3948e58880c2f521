// What the index of a fragmented MP4 stores: the fragments at each split point, and the mapping of
// its clocks to the session timeline.
import type { SegmentSets } from '../codec/parameter-sets.ts'
import type { FragmentDefaults } from '../mp4/boxes/fragment-defaults.ts'
import type { Mp4Description, Mp4Track } from '../mp4/mp4-source.ts'

/**
 * Source of a MediaIndex for fragmented MP4. A plain value; its size depends on the number of split
 * points, not of fragments.
 */
export interface Fmp4Source {
  container: 'fmp4'
  /** Size of the file when it was indexed; samples after it are ignored. */
  sizeBytes: number
  /**
   * For each split point, the position of its group of fragments, and how many samples of the lead
   * track precede it there: usually 0.
   */
  offsets: Float64Array
  samplesBefore: Uint32Array
  /** Number of samples before each split point, of all tracks; see `withSegmentLimits`. */
  sampleCounts: Float64Array
  /** Extent of the groups that contain a split point after their first sample, in order. */
  splitGroupStarts: Float64Array
  splitGroupEnds: Float64Array
  /**
   * Next decode time at each split point, by track, in ticks of the file; absent if all fragments
   * have decode times.
   */
  decodeTicks?: Float64Array[]
  /** In order; the first starts at split point 0. */
  sections: Fmp4Section[]
  inits: Fmp4Init[]
  /** Match keys of the first movie's tracks (see `trackKeys`), to find them in later movies. */
  keys: string[]
  /** Positions in `Fmp4Init.tracks` of the tracks in the index. */
  served: number[]
  /** Samples that the moov box lists, before all fragments. */
  moovSamples?: MoovSamples
  /** Absent if each segment has its parameter sets without them. */
  sets?: SegmentSets
  /** State to resume from when the recording has grown. */
  resume: Fmp4Resume
}

/** The tracks of a movie box. */
export interface Fmp4Init {
  /** Video first, then audio; undefined if this movie lacks the track. */
  tracks: (Fmp4Track | undefined)[]
}

export interface Fmp4Track {
  kind: 'video' | 'audio'
  id: number
  /** Ticks per second of the file and of the output, which is `tickScale` times finer. */
  fileTimescale: number
  timescale: number
  tickScale: number
  /** Shift of presentation times by the edit list, in output ticks. */
  editTicks: number
  defaults: FragmentDefaults
  /** By sample entry, from 0; undefined for unplayable ones. */
  descriptions: (Mp4Description | undefined)[]
  /** For PCM: how many samples form one packet. */
  packetSamples?: number
  matrix?: Int32Array
  width: number
  height: number
}

/** Samples listed in a moov box, which are handled like a fragment at its position. */
export interface MoovSamples {
  /** Extent of the moov box. */
  start: number
  end: number
  /** The file does not contain all of them. */
  isTruncated: boolean
  tracks: (Mp4Track | undefined)[]
}

/** A part of the recording with one clock and one codec configuration. */
export interface Fmp4Section {
  firstSplitPoint: number
  init: number
  /** Sample entry in force, by track, from 1; 0 if the track has no samples here. */
  descriptions: number[]
  /** Byte range of the section. */
  start: number
  end: number
  /** Session time of its start. */
  startSeconds: number
  /**
   * Time of the file's clock, by track, that is 0 in this section; NaN if the track has not
   * occurred. Equal for all tracks with a common clock.
   */
  origins: number[]
  /** Earliest and latest time of the section's samples, in seconds after the origin. */
  earliestSeconds: number
  latestSeconds: number
  /**
   * How much earlier the video is decoded so that no composition offset is negative, in output
   * ticks.
   */
  leadTicks: number
  /** `earliestSeconds` and `leadTicks` are final. */
  isSettled: boolean
  /**
   * Split points without a start time until the section is settled; in output ticks of their track.
   */
  untimedSplitPoints: { track: number; ticks: number }[]
}

/** How far a track has been read. */
export interface TrackProgress {
  /** Decode time of the next sample, in ticks of the file. */
  nextTicks: number
  /**
   * Since the last discontinuity: end of the samples in seconds of the file's clock, and its
   * origin; NaN without samples.
   */
  endSeconds: number
  origin: number
  /** Sample entry of the last sample, from 1; 0 without samples. */
  description: number
  isSeen: boolean
}

/** State before the last group of fragments, to which more fragments may be appended. */
export interface Fmp4Resume {
  /** Where to resume reading. */
  position: number
  splitPointCount: number
  splitGroupCount: number
  sectionCount: number
  /** The last section in this state. */
  lastSection?: Fmp4Section
  progress: TrackProgress[]
  /** Current init, and a hash of its movie box. */
  init: number
  movieHash: string
  lacksDecodeTimes: boolean
  /** Samples before the group. */
  sampleCount: number
  /** Set while no section is open; see SectionCause. */
  pendingSection?: SectionCause
  /**
   * In seconds after the last section's origin: the last split point, the last key frame, the
   * latest frame.
   */
  lastSplitPointSeconds: number
  lastKeySeconds: number
  latestFrameSeconds: number
  /** Parameter sets of the video that its samples contained last. */
  setsInForce: Uint8Array[]
  /** Key frames whose start was read. */
  searchedFrames: number
  /** Served tracks, and whether they can still change. */
  isServed: boolean[]
  isServedFinal: boolean
}

/**
 * Why the next section starts: it is the first one, timestamps jumped, or the codec configuration
 * changed.
 */
export type SectionCause = 'start' | 'jump' | 'init'

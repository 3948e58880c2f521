// How far a scan has come, and what it makes its decisions by: a plain value, from which it goes on when the file has grown.
import type { Limitation } from '../../problem.ts'
import type { WalkState } from './tag-walk.ts'

/** One frame of a served track. */
export interface Mark {
  kind: 'frame' | 'audio'
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
  config: number
}

/** A track's clock: session time = time as written + `shiftMs`. */
export interface TrackState {
  /** The track of several that is served, once one was found. */
  trackId: number | undefined
  /** Set-up in force. */
  config: number | undefined
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
  sawFrame: boolean
  /** Whether a file header lies between the last section and what comes. */
  isNewFile: boolean
  /** Whether a set-up has come since the last picture: a new connection, where pictures do not go on in mid-GOP. */
  isFresh: boolean
  video: TrackState
  audio: TrackState
  /** What all sound of the recording has in common: one transcoding, or none. */
  audioForm: string | undefined
  /** Where the sound ends, in samples since the session's start; NaN where nothing is before it. */
  audioEndTicks: number
  frameMs: number
  latestFrameMs: number
  lastKeyMs: number
  /** Whether the section's first picture lies in its first cut. */
  firstSplitPointHoldsFrame: boolean
  lastSplitPointMs: number
  lastKeySplitPointMs: number
  /** Where pictures and sound end, in session time. */
  endMs: number
  counts: ScanCounts
  /** At most as many as an index has notes. */
  flaws: Limitation[]
  /** Lengths of the lists below. */
  lengths: {
    splitPoints: number
    sections: number
    configs: number
    videoClock: number
    audioClock: number
  }
}

/** What is told where a recording cannot be played. */
export interface ScanCounts {
  frames: number
  encrypted: number
  configBytes: number
  otherVideo: string | undefined
  otherAudio: string | undefined
  /** Codec whose pictures came without a set-up that can be read. */
  bareVideo: string | undefined
}

// The state of a scan: a plain value to continue with when the file grows.
import type { SampledVideoCodec } from '../codec/video-codecs.ts'
import type { Limitation } from '../../base/problem.ts'
import type { WalkState } from './tag-walk.ts'

/** One frame of a served track. */
export interface Mark {
  kind: 'frame' | 'audio'
  /** Position of its tag. */
  position: number
  /** Decode time in the tag. */
  rawMs: number
  /** Presentation minus decode time; 0 for audio. */
  compositionMs: number
  isKey: boolean
  /** Duration of audio in samples; 0 for video. */
  ticks: number
  /** Number of its configuration. */
  config: number
  /** Parameter sets of a key frame. */
  sets: Uint8Array[]
}

/** The clock of a track: session time = timestamp + `shiftMs`. */
export interface TrackState {
  /** The served track of several, once one is found. */
  trackId: number | undefined
  /** Configuration in force. */
  config: number | undefined
  shiftMs: number
  /**
   * Decode time of its last frame in the session; undefined if the next one need not follow any.
   */
  lastMs: number | undefined
}

export interface ScanState {
  walk: WalkState
  /**
   * `waiting` for a frame that can begin a section; `opening` a section, until the audio beside the
   * video is seen; `running`; in `doubt` after a jump of the audio, until the video shows whether
   * it has jumped too.
   */
  mode: 'waiting' | 'opening' | 'running' | 'doubt'
  /** Frames that wait for a decision. */
  pending: Mark[]
  /** Whether only a key frame can begin the next section. */
  needsKey: boolean
  /** Whether frames were dropped while waiting. */
  sawFrame: boolean
  /** Whether a file header is between the last section and the next one. */
  isNewFile: boolean
  /**
   * Whether a configuration has come since the last frame: a new connection, whose video cannot
   * continue within a GOP.
   */
  isFresh: boolean
  video: TrackState
  audio: TrackState
  /** Parameter sets in key frames since this configuration. */
  setsInForce: { config: number; sets: Uint8Array[] }
  /** What all audio of the recording has in common: one transcoding, or none. */
  audioForm: string | undefined
  /** End of the audio, in samples since the start of the session; NaN without audio before. */
  audioEndTicks: number
  frameMs: number
  latestFrameMs: number
  lastKeyMs: number
  /** Whether the first frame of the section belongs to its first split point. */
  firstSplitPointHoldsFrame: boolean
  lastSplitPointMs: number
  lastKeySplitPointMs: number
  /** End of video and audio in the session. */
  endMs: number
  counts: ScanCounts
  /** At most MAX_LIMITATIONS. */
  flaws: Limitation[]
  /** Lengths of the lists in Scan. */
  lengths: {
    splitPoints: number
    sections: number
    configs: number
    videoClock: number
    audioClock: number
  }
}

/** Counts that explain why a recording is unplayable, and what its segments cost. */
export interface ScanCounts {
  /** Frames and audio of the served tracks. */
  samples: number
  frames: number
  encrypted: number
  configBytes: number
  otherVideo: string | undefined
  otherAudio: string | undefined
  /** Codec of frames without a readable configuration. */
  bareVideo: SampledVideoCodec | undefined
}

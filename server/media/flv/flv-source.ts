// Split points, configurations and clocks of an FLV file, and the state of a scan: plain values.
import type { AudioCodec } from '../codec/audio-codecs.ts'
import type { SegmentSets } from '../codec/parameter-sets.ts'
import type { SampledVideoCodec } from '../codec/video-codecs.ts'
import type { Limitation } from '../../base/problem.ts'
import type { WalkState } from './tag-walk.ts'

/** Marks a split point that is not a frame. */
export const NO_FRAME = -(2 ** 31)

/**
 * Source of a MediaIndex made from FLV: about 30 bytes per split point. Times in milliseconds,
 * positions in bytes.
 */
export interface FlvSource {
  container: 'flv'
  /** Size of the file at the time of the index. */
  sizeBytes: number
  /**
   * First tag of each split point. Its segment ends at the next one, or at the end of its section.
   */
  offsets: Float64Array
  /** Presentation minus decode time of the frame at each split point, or NO_FRAME. */
  leadMs: Int32Array
  /**
   * End of the audio before each split point, in samples since the start of the session, or NaN.
   */
  audioEnds: Float64Array
  /** Number of frames and audio tags before each split point. */
  sampleCounts: Float64Array
  sections: FlvSection[]
  configs: FlvConfig[]
  /** Pairs of a position and the shift from there on: session time = timestamp + shift. */
  videoClock: Float64Array
  audioClock: Float64Array
  /** The number of the served track, of several in the tags. */
  trackIds: { video: number | undefined; audio: number | undefined }
  /** State to continue with when the file grows. */
  /** Parameter sets that precede key frames; absent if configurations and frames have all. */
  sets?: SegmentSets
  resume: ScanState
}

/** From one discontinuity to the next. */
export interface FlvSection {
  firstSplitPoint: number
  /** End of its last tag. */
  endOffset: number
  /** Numbers of its configurations; absent without video, or audio. */
  video?: number
  audio?: number
}

export type FlvConfig = VideoConfigRecord | AudioConfigRecord

export interface VideoConfigRecord {
  kind: 'video'
  codec: 'h264' | 'hevc' | 'av1' | 'vp9'
  /** Payload of avcC, hvcC, av1C or vpcC. */
  config: Uint8Array
  width: number
  height: number
}

export interface AudioConfigRecord {
  kind: 'audio'
  codec: AudioCodec
  config: Uint8Array
  /** Codec string and name, as in AudioTrack. */
  codecString: string
  codecName: string
  channels: number
  /** Samples a second, and ticks a second of all audio times. */
  sampleRate: number
  /** Sample entry for the init segment; absent if the audio is transcoded. */
  sampleEntry?: Uint8Array
  /** Samples of a frame, if all frames have the same number. */
  frameTicks?: number
}

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
  /** Kind and number of each track that is not served. */
  furtherTracks: string[]
}

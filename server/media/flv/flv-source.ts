// Split points, configurations and clocks of an FLV file.
import type { AudioCodec } from '../codec/audio-codecs.ts'
import type { SegmentSets } from '../codec/sets-scan.ts'
import type { ScanState } from './scan-progress.ts'

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

// Where the cuts, set-ups and clocks of an FLV file lie: what a segment needs, and what reading goes on from.
import type { SampledVideoCodec } from '../codec/sample-entry.ts'
import type { AudioTrack, SoundFormat } from '../media-index.ts'
import type { ScanState } from './scan-state.ts'

/** Stands for a cut that is no picture. */
export const NO_PICTURE = -(2 ** 31)

/** Source of a MediaIndex made from FLV: about 30 bytes a cut. Times in milliseconds, positions in bytes of the file. */
export interface FlvSource {
  container: 'flv'
  /** Size of the file when it was indexed. */
  sizeBytes: number
  /** First tag of each cut. A cut ends where the next begins, the last of a section at the section's end. */
  offsets: Float64Array
  /** How much earlier than it is shown each cut's picture is decoded; NO_PICTURE where it is not a picture. */
  leadMs: Int32Array
  /** Where the sound in front of each cut ends, in samples since the session's start; NaN where there is none. */
  soundEnds: Float64Array
  sections: FlvSection[]
  setUps: FlvSetUp[]
  /** Pairs of a position and what is added from there on to a track's time stamps, for its time in the session. */
  videoClock: Float64Array
  soundClock: Float64Array
  /** Which of several tracks is served, by its number in the tags. */
  trackIds: { video: number | undefined; sound: number | undefined }
  /** Where reading goes on when the file has grown. */
  resume: ScanState
}

/** From one break to the next. */
export interface FlvSection {
  firstCut: number
  /** Behind its last tag. */
  endOffset: number
  /** Numbers of its set-ups; absent where it has no pictures, or no sound. */
  video?: number
  sound?: number
}

export type FlvSetUp = VideoSetUpRecord | SoundSetUpRecord

export interface VideoSetUpRecord {
  kind: 'video'
  codec: SampledVideoCodec
  /** Payload of avcC, hvcC, av1C or vpcC. */
  config: Uint8Array
  width: number
  height: number
}

export interface SoundSetUpRecord {
  kind: 'sound'
  /** What tells it from others, by its bytes or its format. */
  codec: 'aac' | 'opus' | 'flac' | SoundFormat['codec']
  config: Uint8Array
  track: AudioTrack
  /** Sample entry for the init segment; absent where the sound is transcoded. */
  sampleEntry?: Uint8Array
  /** Samples a second of all times of the sound, and samples of a frame where all have as many. */
  timescale: number
  frameTicks?: number
}

// Where the cuts, set-ups and clocks of an FLV file lie: what a segment needs, and what reading goes on from.
import type { ScanState } from './scan-progress.ts'

/** Stands for a cut that is no picture. */
export const NO_FRAME = -(2 ** 31)

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
  audioEnds: Float64Array
  sections: FlvSection[]
  configs: FlvConfig[]
  /** Pairs of a position and what is added from there on to a track's time stamps, for its time in the session. */
  videoClock: Float64Array
  audioClock: Float64Array
  /** Which of several tracks is served, by its number in the tags. */
  trackIds: { video: number | undefined; audio: number | undefined }
  /** Where reading goes on when the file has grown. */
  resume: ScanState
}

/** From one break to the next. */
export interface FlvSection {
  firstSplitPoint: number
  /** Behind its last tag. */
  endOffset: number
  /** Numbers of its set-ups; absent where it has no pictures, or no sound. */
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
  codec: 'aac' | 'opus' | 'flac' | PlainAudio
  config: Uint8Array
  /** Codec string and name, as an AudioTrack has them. */
  codecString: string
  codecName: string
  channels: number
  /** Samples a second, and ticks a second of all times of the sound. */
  sampleRate: number
  /** Sample entry for the init segment; absent where the sound is transcoded. */
  sampleEntry?: Uint8Array
  /** Samples of a frame, where all have as many. */
  frameTicks?: number
}

/** Sound that needs no set-up: its frames or its tags say all of it. No browser plays it in HLS, so it is transcoded. */
export type PlainAudio = 'mp3' | 'ac3' | 'eac3' | 'pcm_s16le' | 'pcm_u8' | 'pcm_alaw' | 'pcm_mulaw'

// Messages between the server and the process that transcodes audio, and the limits of both sides.
import type { AudioFormat } from '../../media/codec/audio-codecs.ts'

/** Samples of one AAC frame (ISO/IEC 14496-3 4.5.2.1.1). */
export const FRAME_SAMPLES = 1024
/**
 * A segment's audio ends this many frames before its last packet: the encoder needs that
 * look-ahead, and the first frame of the next segment overlaps by as much.
 */
export const LOOK_AHEAD_FRAMES = 4
/** Audio before a boundary that both segments use, so that they place samples alike. */
export const OVERLAP_SECONDS = 0.5

/** Limits of one job. */
export const MAX_JOB_BYTES = 32 * 1024 * 1024
export const MAX_JOB_FRAMES = 3000
/** Of an AAC frame with two channels: 6144 bits each (ISO/IEC 14496-3 4.5.3). */
export const MAX_FRAME_BYTES = (2 * 6144) / 8
/** Audio beyond these limits becomes silence. */
export const MAX_SAMPLE_RATE = 192_000
export const MAX_CHANNELS = 8

/** Parameters of the AAC output. */
export interface AudioOutput {
  sampleRate: number
  channels: 1 | 2
}

/** Recorded packets, in order, concatenated in `bytes`. */
export interface AudioPackets {
  bytes: Uint8Array
  sizes: Uint32Array
  /** Time of each packet's first sample on the session timeline. */
  ticks: Float64Array
  timescale: number
}

/** A segment of one track to transcode to AAC. The frame grid starts at session time 0. */
export interface AudioJob {
  format: AudioFormat
  output: AudioOutput
  packets: AudioPackets
  /** Packets of the previous segment that warm up decoder and encoder; 0 for the first segment. */
  leadInPackets: number
  /** `joined`: another segment follows the last packet. */
  end: 'joined' | 'open'
  /**
   * Requested frames, `fromFrame` (inclusive) to `toFrame` (exclusive). Frame n starts at sample n
   * * 1024.
   */
  fromFrame: number
  toFrame: number
}

/** The requested frames, concatenated. */
export interface AudioFrames {
  bytes: Uint8Array
  sizes: Uint32Array
}

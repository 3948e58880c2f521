// What crosses the border between the server and the process that transcodes sound, and the limits that both sides keep.
import type { AudioFormat } from '../media/media-index.ts'

/** Samples of one AAC frame (ISO/IEC 14496-3 4.5.2.1.1). */
export const FRAME_SAMPLES = 1024
/**
 * So many frames before the last packet that is known, a segment's sound ends: the encoder looks that far ahead, and the
 * next segment's first frame overlaps that far.
 */
export const LOOK_AHEAD_FRAMES = 4
/** Sound in front of a joint by which both of its sides place their samples alike. */
export const SHARED_SECONDS = 0.5

/** Bounds of one job. */
export const MAX_JOB_BYTES = 32 * 1024 * 1024
export const MAX_JOB_FRAMES = 3000
/** Sound of a higher rate, or with more channels, is silence. */
export const MAX_SAMPLE_RATE = 192_000
export const MAX_CHANNELS = 8

/** What the made AAC is like. */
export interface AudioOutput {
  sampleRate: number
  channels: 1 | 2
}

/** Packets as recorded, in order, one behind the other in `bytes`. */
export interface AudioPackets {
  bytes: Uint8Array
  sizes: Uint32Array
  /** Time of each packet's first sample on the session's timeline. */
  ticks: Float64Array
  timescale: number
}

/** A piece of one track's sound to be made AAC, in frames of a grid that begins at the session's time 0. */
export interface AudioJob {
  format: AudioFormat
  output: AudioOutput
  packets: AudioPackets
  /** Packets that belong to the piece before: they warm up decoder and encoder. 0 where nothing comes before. */
  leadInPackets: number
  /** `joined`: another piece goes on behind the last packet. */
  end: 'joined' | 'open'
  /** The wanted frames: number `fromFrame` up to, not including, `toFrame`. Frame n begins at sample n * 1024. */
  fromFrame: number
  toFrame: number
}

/** The wanted frames, all of them, one behind the other. */
export interface AudioFrames {
  bytes: Uint8Array
  sizes: Uint32Array
}

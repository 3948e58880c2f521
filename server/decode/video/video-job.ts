// Messages between the server and the process that encodes video, and the limits of both sides.
import type { KeyFrame } from '../../media/media-index.ts'

/**
 * Increase it when a code change gives other bytes for the same job. It is part of the URLs of
 * encoded segments, as is the version of the package with the encoder.
 */
export const ENCODE_FORMAT = 2

/** Limits of one job. */
export const MAX_JOB_BYTES = 64 * 1024 * 1024
export const MAX_JOB_SECONDS = 30
/** Of an encoded segment. The longest one has 11 MiB at the highest bit rate. */
export const MAX_ENCODED_BYTES = 15 * 1024 * 1024
/** RFC 6381: High profile, level 4.0. */
export const ENCODED_CODEC = 'avc1.640028'

/** Video as it was recorded: samples in decode order, the first one a key frame. */
export interface RecordedVideo {
  codec: KeyFrame['codec']
  /** As in `KeyFrame`. */
  extradata?: Uint8Array | undefined
  rotationDegrees: KeyFrame['rotationDegrees']
  /** All samples, concatenated. */
  bytes: Uint8Array
  sizes: Uint32Array
  /** Presentation time of each sample on the session timeline. */
  ticks: Float64Array
  timescale: number
  /** Samples before the segment, which only help to decode it. */
  leadInSamples: number
}

/** What all segments of a rendition have in common. */
export interface EncodedFormat {
  /** In pixels; both are even. */
  width: number
  height: number
  /** Code points of ISO/IEC 23091-2. */
  primaries: number
  transfer: number
  matrix: number
  /** Payload of the avcC box. */
  config: Uint8Array
}

interface Target {
  /** Ticks per second of the frames. */
  timescale: number
  maxBitsPerSecond: number
}

/** Finds the format of a rendition. */
export interface DescribeJob extends Target {
  kind: 'describe'
  frame: KeyFrame
  /** Width over height of a pixel, if not the bitstream states it. */
  pixelAspect?: number | undefined
  /** Of the rendition, in pixels; smaller video is not scaled up. */
  height: number
}

/** Encodes a segment. */
export interface EncodeJob extends Target {
  kind: 'encode'
  video: RecordedVideo
  format: EncodedFormat
  /** Time of a frame in place of those that cannot be decoded. */
  startTicks: number
}

export type VideoJob = DescribeJob | EncodeJob

/** Encoded frames in the order of their times; the first is a key frame. */
export interface EncodedFrames {
  /** Concatenated. */
  bytes: Uint8Array
  sizes: Uint32Array
  /** Each is shown until the next one; at least one. */
  ticks: Float64Array
}

// What a reader knows of a recording after reading it once: tracks, and the places where a segment may begin.
import type { Mp4Source } from './mp4/mp4-source.ts'
import type { TsSource } from './ts/ts-source.ts'

/**
 * Everything that playlists and segments need, and nothing of the recording's own bytes. A plain value: it can be
 * cloned to another thread and written to the index cache with v8.serialize. Independent of any HLS setting.
 */
export interface MediaIndex {
  /** Tracks that are served, in order: at most one video and one audio track. Never empty. */
  tracks: Track[]
  cuts: CutTable
  /** Where the samples lie, by container. Only the container's own reader looks inside. */
  source: MediaSource
}

export type MediaSource = Mp4Source | TsSource

export type Track = VideoTrack | AudioTrack

interface TrackBase {
  /** Codec string for the CODECS attribute (RFC 6381), e.g. `avc1.64001f`, `mp4a.40.2`. */
  codec: string
  /** Short name of the codec in the field's words, e.g. `H.264`, `HEVC`, `AAC`. */
  codecName: string
}

export interface VideoTrack extends TrackBase {
  kind: 'video'
  /** Coded size in pixels, before rotation. */
  width: number
  height: number
  /** Clockwise turn that shows the picture upright. */
  rotationDegrees: 0 | 90 | 180 | 270
}

export interface AudioTrack extends TrackBase {
  kind: 'audio'
  channels: number
  sampleRate: number
}

/**
 * The places at which a segment may begin, in order, as parallel arrays. With pictures these are key frames in
 * presentation order; where there are no pictures (audio only, or sound that outlasts the pictures) they are audio
 * frames about one second apart. The first cut is at the recording's start, with time 0.
 */
export interface CutTable {
  /** Ticks per second of `startTicks` and `endTicks`. */
  timescale: number
  /** Presentation time of each cut on the session's timeline: starts at 0, grows strictly, has no holes at breaks. */
  startTicks: Float64Array
  /** Where the last cut's pictures and sound end on the same timeline; the session's length. Measured from packets. */
  endTicks: number
  /** Flags of each cut: CUT_KEY, CUT_BREAK. */
  flags: Uint8Array
}

/** The cut is a picture that can be decoded without any before it. */
export const CUT_KEY = 1
/** Time stamps or codec configuration break here: a segment must begin, behind EXT-X-DISCONTINUITY. */
export const CUT_BREAK = 2

/** Cuts `from` (included) to `to` (excluded; may be the number of cuts): what one segment holds. */
export interface CutRange {
  from: number
  to: number
}

/** One picture, ready for a decoder. */
export interface KeyFrame {
  codec: 'h264' | 'hevc' | 'av1' | 'vp9' | 'vp8' | 'mpeg2video'
  /** avcC, hvcC or av1C payload where samples are length-prefixed; absent where `data` is Annex B with its parameter sets. */
  extradata?: Uint8Array
  data: Uint8Array
  rotationDegrees: 0 | 90 | 180 | 270
}

/** Seconds from ticks. */
export function secondsFromTicks(ticks: number, timescale: number): number {
  return ticks / timescale
}

/** The session's length in seconds. */
export function durationSeconds(index: MediaIndex): number {
  return secondsFromTicks(index.cuts.endTicks, index.cuts.timescale)
}

// What a reader knows of a recording after reading it once: tracks, and the places where a segment may begin.
import type { Limitation } from '../problem.ts'
import type { FlvSource } from './flv/flv-source.ts'
import type { Fmp4Source } from './fmp4/fmp4-source.ts'
import type { MatroskaSource } from './matroska/matroska-source.ts'
import type { Mp4Source } from './mp4/mp4-source.ts'
import type { TsSource } from './ts/ts-source.ts'

/**
 * Everything that playlists and segments need, and nothing of the recording's own bytes. A plain value: it can be
 * cloned to another thread and written to the index cache with v8.serialize. Independent of any HLS setting.
 */
export interface MediaIndex {
  /**
   * Tracks that are served, in order: at most one video, then the sound, first the track that plays unasked, then those
   * of further languages. Never empty.
   */
  tracks: Track[]
  /** Text tracks with all their cues; absent where there are none. */
  subtitles?: SubtitleTrack[]
  splitPoints: SplitPointTable
  /** What of the recording visitors do not get as it was meant, at most MAX_NOTES; absent where all is well. */
  limitations?: Limitation[]
  /** What is known to stay as it is while the recording grows; absent where the container cannot be read while it grows. */
  growth?: Growth
  /** Where the samples lie, by container. Only the container's own reader looks inside. */
  source: MediaSource
}

/** Most notes of one recording: a file that is damaged all over needs no longer list. */
export const MAX_LIMITATIONS = 100

/** The one place that lists the containers: each reader adds its own source here and in readers.ts. */
export type MediaSource = FlvSource | Fmp4Source | MatroskaSource | Mp4Source | TsSource

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

/** Where `transcodedFrom` is given, `codec`, `channels` and `sampleRate` say what is sent, `codecName` what was recorded. */
export interface AudioTrack extends TrackBase {
  kind: 'audio'
  channels: number
  sampleRate: number
  /** Language as the recording says it (BCP 47 or ISO 639-2), where it says one. */
  language?: string
  /** Title as the recording says it. */
  name?: string
  /** The sound as it was recorded, where no browser plays that in HLS: it is transcoded to AAC. */
  transcodedFrom?: AudioFormat
}

/** What a decoder needs to know of sound; `codec` in FFmpeg's words. */
export interface AudioFormat {
  codec: 'mp2' | 'mp3' | 'ac3' | 'eac3' | 'dts' | 'truehd' | 'vorbis' | 'aac_latm' | PcmCodec
  channels: number
  sampleRate: number
  /** The decoder's set-up, as FFmpeg takes it (CodecPrivate, or what the container's own set-up gives). */
  extradata?: Uint8Array
}

export type PcmCodec =
  | 'pcm_s16le'
  | 'pcm_s16be'
  | 'pcm_s24le'
  | 'pcm_s24be'
  | 'pcm_s32le'
  | 'pcm_f32le'
  | 'pcm_u8'
  | 'pcm_alaw'
  | 'pcm_mulaw'

/** A track of text over the pictures. */
export interface SubtitleTrack {
  language?: string
  name?: string
  isDefault: boolean
  /** In order of their starts. */
  cues: SubtitleCue[]
}

export interface SubtitleCue {
  /** On the session's timeline, in seconds. */
  startSeconds: number
  endSeconds: number
  /** Payload of a WebVTT cue, escaped (W3C WebVTT 4.2.2): no empty line, no `-->`. */
  text: string
}

/** What stays as it is, whatever is appended to a recording, or written into its head when it is closed. */
export interface Growth {
  /**
   * So many cuts, from the first, stay, and so does what lies before the last of them: a segment that ends at one of
   * these cuts (`to` < `stableCuts`) is made of the same bytes for ever.
   */
  stableSplitPoints: number
  /**
   * Bytes that stay and tell this recording from others: the first of its media (no header that is rewritten when the
   * recording is closed), at most 64 KiB, before the second cut. Length 0 while there are fewer than two stable cuts.
   */
  stableRange: { offset: number; length: number }
}

/**
 * The places at which a segment may begin, in order, as parallel arrays. With pictures these are key frames in
 * presentation order, and pictures in mid-GOP (CUT_MID); where there are no pictures (audio only, or sound that outlasts the pictures) they are audio
 * frames about one second apart. The first cut is at the recording's start, with time 0.
 */
export interface SplitPointTable {
  /** Ticks per second of `startTicks` and `endTicks`. */
  timescale: number
  /** Presentation time of each cut on the session's timeline: starts at 0, grows strictly, has no holes at breaks. */
  startTicks: Float64Array
  /** Where the last cut's pictures and sound end on the same timeline; the session's length. Measured from packets. */
  endTicks: number
  /** Flags of each cut: CUT_KEY, CUT_BREAK, CUT_MID. */
  flags: Uint8Array
}

/** The cut is a picture that can be decoded without any before it. */
export const SPLIT_KEY_FRAME = 1
/** Time stamps or codec configuration break here: a segment must begin, behind EXT-X-DISCONTINUITY. */
export const SPLIT_DISCONTINUITY = 2
/**
 * A picture in mid-GOP, where the next key frame is far: a segment begins here only where it has to, because a playlist
 * that grows has promised a longest duration. Readers give one about every 2 s where no key frame has come for 5 s.
 */
export const SPLIT_FORCED = 4

/** Cuts `from` (included) to `to` (excluded; may be the number of cuts): what one segment holds. */
export interface SplitPointRange {
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
  return secondsFromTicks(index.splitPoints.endTicks, index.splitPoints.timescale)
}

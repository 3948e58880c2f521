// What an index stores about a recording: its tracks, and the points where a segment may start.
import { AppError } from '../base/errors.ts'
import type { Limitation } from '../base/problem.ts'
import type { AudioFormat } from './codec/audio-codecs.ts'
import type { FlvSource } from './flv/flv-source.ts'
import type { Fmp4Source } from './fmp4/fmp4-source.ts'
import type { MatroskaSource } from './matroska/matroska-source.ts'
import type { Mp4Source } from './mp4/mp4-source.ts'
import type { TsSource } from './ts/ts-source.ts'

/**
 * All that playlists and segments need except the media bytes. A plain value: it can be cloned to
 * another thread and stored with v8.serialize. Independent of the HLS settings.
 */
export interface MediaIndex {
  /**
   * The served tracks, never empty: at most one video track, then audio with the default track
   * first.
   */
  tracks: Track[]
  /** Subtitle tracks with all their cues; absent if there are none. */
  subtitles?: SubtitleTrack[]
  splitPoints: SplitPointTable
  /** What is missing or wrong in playback, at most MAX_LIMITATIONS; absent if nothing is. */
  limitations?: Limitation[]
  /** What is final while the recording grows; absent if its container must be complete. */
  growth?: Growth
  /** Sample locations, by container. Only the reader of that container reads them. */
  source: MediaSource
}

/** Limit for one recording: a file that is corrupt throughout needs no longer list. */
export const MAX_LIMITATIONS = 100

/** One source per container, added here and in readers.ts. */
export type MediaSource = FlvSource | Fmp4Source | MatroskaSource | Mp4Source | TsSource

export type Track = VideoTrack | AudioTrack

interface TrackBase {
  /** RFC 6381 string for the CODECS attribute, e.g. `avc1.64001f`, `mp4a.40.2`. */
  codec: string
  /** Display name of the codec, e.g. `H.264`, `HEVC`, `AAC`. */
  codecName: string
}

export interface VideoTrack extends TrackBase {
  kind: 'video'
  /** Coded size in pixels, before rotation. */
  width: number
  height: number
  /** Clockwise rotation that shows the video upright. */
  rotationDegrees: 0 | 90 | 180 | 270
}

/**
 * With `transcodedFrom`, `codec`, `channels` and `sampleRate` describe the AAC output and
 * `codecName` the recorded codec.
 */
export interface AudioTrack extends TrackBase {
  kind: 'audio'
  channels: number
  sampleRate: number
  /** Language tag of the recording (BCP 47 or ISO 639-2), if it has one. */
  language?: string
  /** Track title of the recording, if it has one. */
  name?: string
  /** The recorded format if no browser plays it in HLS and it is transcoded to AAC. */
  transcodedFrom?: AudioFormat
}

/** A subtitle track with its cues. */
export interface SubtitleTrack {
  language?: string
  name?: string
  isDefault: boolean
  /** Ordered by start time. */
  cues: SubtitleCue[]
}

export interface SubtitleCue {
  /** Seconds on the session timeline. */
  startSeconds: number
  endSeconds: number
  /** WebVTT cue payload, escaped (W3C WebVTT 4.2.2): no empty line, no `-->`. */
  text: string
}

/** What does not change when a recording grows or when its header is rewritten on close. */
export interface Growth {
  /**
   * This many split points, counted from the first, are final, and so are the bytes before the last
   * of them: a segment that ends at one of them (`to` < `stableSplitPoints`) never changes.
   */
  stableSplitPoints: number
  /**
   * Final bytes that identify this recording: the first bytes of its media, at most 64 KiB, before
   * the second split point, without headers that are rewritten on close. Its length is 0 while
   * there are fewer than two stable split points.
   */
  stableRange: { offset: number; length: number }
}

/**
 * The points where a segment may start, in order, as parallel arrays. They are key frames in
 * presentation order and, far from a key frame, other frames (SPLIT_FORCED). Without video (audio
 * only, or audio that outlasts the video) they are audio frames about one second apart. The first
 * one is at time 0, the start of the recording.
 */
export interface SplitPointTable {
  /** Ticks per second of `startTicks` and `endTicks`. */
  timescale: number
  /**
   * When the first frame of the split point is shown, which in an open GOP is a leading frame: on
   * the session timeline, which starts at 0, increases strictly, and has no discontinuities.
   */
  startTicks: Float64Array
  /** End of all samples on the session timeline, which is the session duration. */
  endTicks: number
  /** Bit mask of the SPLIT_ constants below. */
  flags: Uint8Array
}

/** The split point is a random access point: its frame decodes without any frame before it. */
export const SPLIT_KEY_FRAME = 1
/**
 * Timestamps or the codec configuration change: a segment must start here, after
 * EXT-X-DISCONTINUITY.
 */
export const SPLIT_DISCONTINUITY = 2
/**
 * A frame inside a long GOP. A segment starts here only if it would otherwise exceed the target
 * duration that a growing playlist has announced. The rules of time (`timeline/`) say where.
 */
export const SPLIT_FORCED = 4
/**
 * A segment must start here, even if the split point is forced: with what follows, the one before
 * would have more samples than a request may cost.
 */
export const SPLIT_REQUIRED = 8
/**
 * No segment can be created from here to the next split point: its samples are corrupt, or too
 * many.
 */
export const SPLIT_UNREADABLE = 16

/**
 * Content of one segment: split points `from` (inclusive) to `to` (exclusive; may equal their
 * number).
 */
export interface SplitPointRange {
  from: number
  to: number
}

/** One key frame with all that a decoder needs. */
export interface KeyFrame {
  codec: 'h264' | 'hevc' | 'av1' | 'vp9' | 'vp8' | 'mpeg2video'
  /**
   * Payload of avcC, hvcC or av1C for length-prefixed samples; absent for Annex B, where `data`
   * includes the parameter sets.
   */
  extradata?: Uint8Array
  data: Uint8Array
  rotationDegrees: 0 | 90 | 180 | 270
}

/** A size after rotation. */
export function uprightSize({
  width,
  height,
  rotationDegrees,
}: Pick<VideoTrack, 'width' | 'height' | 'rotationDegrees'>): { width: number; height: number } {
  const isTurned = rotationDegrees === 90 || rotationDegrees === 270
  return isTurned ? { width: height, height: width } : { width, height }
}

export function secondsFromTicks(ticks: number, timescale: number): number {
  return ticks / timescale
}

/** Duration of the session. */
export function durationSeconds(index: MediaIndex): number {
  return secondsFromTicks(index.splitPoints.endTicks, index.splitPoints.timescale)
}

/** Whether a segment may begin with a key frame at the split point. */
export function hasKeyFrame({ splitPoints }: MediaIndex, splitPoint: number): boolean {
  return ((splitPoints.flags[splitPoint] ?? 0) & SPLIT_KEY_FRAME) !== 0
}

/** The requested tracks of an index; by default the video and the first audio track. */
export function servedTracks(
  { tracks }: MediaIndex,
  wanted?: readonly number[],
): readonly number[] {
  const firstOf = (wantedKind: Track['kind']) => tracks.findIndex(({ kind }) => kind === wantedKind)
  return wanted ?? [firstOf('video'), firstOf('audio')].filter((at) => at >= 0)
}

/** Throws AppError `failed` if the index has no such segment. */
export function checkRange({ splitPoints }: MediaIndex, { from, to }: SplitPointRange): void {
  if (from >= 0 && from < to && to <= splitPoints.startTicks.length) return
  throw new AppError('failed', 'there is no such segment')
}

/** The source of an index. Throws AppError `failed` if it belongs to another container. */
export function sourceOf<Container extends MediaSource['container']>(
  { source }: MediaIndex,
  container: Container,
): Extract<MediaSource, { container: Container }> {
  if (isOf(source, container)) return source
  throw new AppError('failed', `the index is not of the container ${container}`)
}

function isOf<Container extends MediaSource['container']>(
  source: MediaSource,
  container: Container,
): source is Extract<MediaSource, { container: Container }> {
  return source.container === container
}

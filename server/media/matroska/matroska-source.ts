// What a Matroska index stores: the location of each split point, and the scan state to resume
// from.
import type { WalkState } from './elements/walk-visitor.ts'
import type { Limitation } from '../../base/problem.ts'
import type { AudioCodec, AudioFormat } from '../codec/audio-codecs.ts'

/** Source of a MediaIndex for Matroska or WebM. A plain value of about 60 bytes per split point. */
export interface MatroskaSource {
  container: 'matroska'
  /** The served tracks, with one entry for each change. */
  sets: TrackSet[]
  /** Parts with one clock, in order; the first starts at split point 0. */
  sections: Section[]
  splitPoints: SplitPointLocations
  /** End of the last complete element. */
  endOffset: number
  /** State to resume the scan. */
  scan: ScanMemory
}

/** Per split point, as parallel arrays. */
export interface SplitPointLocations {
  /** Position of the first block's element. */
  offsets: Float64Array
  /** Timestamp and end of its cluster. */
  clusterTicks: Float64Array
  clusterEnds: Float64Array
  /**
   * Earliest presentation time of its frames on the section's clock, in ticks of CLOCK_RATE; NaN
   * without frames.
   */
  earliestTicks: Float64Array
  /**
   * Per audio track, time of its first packet on the section's clock, in ticks of the audio; NaN if
   * it has none here.
   */
  audioStarts: Float64Array[]
  /** Number of frames and audio packets before the split point, of all tracks. */
  sampleCounts: Float64Array
}

/**
 * Ticks per second of video and split points: exact for the usual clock of 1 ms, and fine enough
 * for others.
 */
export const CLOCK_RATE = 90_000

/** The tracks in force. */
export interface TrackSet {
  video?: VideoStream
  /** In the order of the index's audio tracks; undefined if one is missing. */
  audioTracks: (AudioStreamInfo | undefined)[]
  subtitles: SubtitleStream[]
}

interface StreamBase {
  number: number
  /** Bytes stripped from the start of each frame. */
  prefix?: Uint8Array
}

/** The video as listed in the index. */
export interface DescribedVideo {
  kind: 'video'
  codec: string
  codecName: string
  width: number
  height: number
  rotationDegrees: 0
}

/** An audio track as listed in the index. */
export interface DescribedAudio {
  kind: 'audio'
  codec: string
  codecName: string
  channels: number
  sampleRate: number
  language?: string
  name?: string
  transcodedFrom?: AudioFormat
}

export interface VideoStream extends StreamBase {
  described: DescribedVideo
  codec: 'h264' | 'hevc' | 'av1' | 'vp9'
  /**
   * Absent until the first key frame is read, if the track has no codec configuration (VP9, AV1).
   */
  config?: { sampleEntry: Uint8Array; extradata?: Uint8Array }
  /** Presentation size in pixels. */
  displayWidth: number
  displayHeight: number
  /** 0 if not declared. */
  defaultDurationTicks: number
  colour?: { primaries: number; transfer: number; matrix: number; isFullRange: boolean }
}

export interface AudioStreamInfo extends StreamBase {
  described: DescribedAudio
  /** Ticks per second of the output: the sample rate. */
  timescale: number
  /** Absent for audio that is transcoded. */
  sampleEntry?: Uint8Array
  delaySeconds: number
  frame: FrameLength
}

/** Duration of an audio frame, in samples. */
export type FrameLength =
  | { kind: 'fixed'; ticks: number }
  | { kind: 'opus' }
  | { kind: 'pcm'; sampleBytes: number }
  | { kind: 'described'; codec: AudioCodec }
  | { kind: 'unknown' }

export interface SubtitleStream {
  number: number
  format: 'srt' | 'ass' | 'webvtt' | 'webm-vtt'
  isZlib: boolean
  language?: string
  name?: string
  isDefault: boolean
}

/** A part between two discontinuities. */
export interface Section {
  firstSplitPoint: number
  set: number
  nsPerTick: number
  /** Subtracted from the section's clock to get session time, in ticks of CLOCK_RATE. */
  shiftTicks: number
  /** Reorder delay: how long before its presentation a frame is decoded. */
  delayTicks: number
  /**
   * Frames before this position are not served, because no key frame precedes them. Infinity
   * without a key frame.
   */
  firstFrameAt: number
}

/** State of a scan. Times are ticks of CLOCK_RATE on the current section's clock. */
export interface ScanMemory {
  walkState: WalkState
  nsPerTick: number
  /** The set in force; -1 before Tracks. */
  set: number
  /** Hash of the current Tracks element, to recognise a repetition. */
  tracksHash: string
  /** Whether a segment was entered; another one belongs to an appended file. */
  hasSegment: boolean
  /** Whether the next block starts a section. */
  needsSection: boolean
  /** Whether frames before the first key frame have been skipped since. */
  hasUndecodable: boolean
  run: SectionRun
  /** First split point to be removed if another video frame follows; Infinity if there is none. */
  tentativeFrom: number
  /** End of the first cluster with media, as far as known. */
  firstClusterEnd: number
  /** Frames and audio packets so far. */
  sampleCount: number
  hasSeenFrame: boolean
  hasSeenUndecodable: boolean
  /** Cues of the open section before its position on the session timeline is final. */
  pendingCues: PendingCue[]
  /** Per subtitle track: how many of its cues in the index are final. */
  settledCues: number[]
  cueCount: number
  cueCharacters: number
  limitations: Limitation[]
}

export interface PendingCue {
  track: number
  startTicks: number
  endTicks: number
  text: string
}

/** State of the section that is being scanned. */
export interface SectionRun {
  /** Start of the section on the session timeline. */
  startTicks: number
  /** Earliest time so far; final at the second split point. */
  originTicks: number
  isSettled: boolean
  isDelaySettled: boolean
  /** Latest time of the video and the first audio track. */
  latestTicks: number
  frameCount: number
  firstFrameTicks: number
  maxFrameTicks: number
  /**
   * `maxFrameTicks` before the last frame that raised it: frames presented between the two are
   * reordered.
   */
  priorMaxFrameTicks: number
  lastKeyTicks: number
  lastFrameDurationTicks: number
  /** Presentation times of the first frames, in decode order, until the reorder delay is final. */
  frameTicks: number[]
  hasUndecodable: boolean
  lastAudioTicks: number
  audioEndTicks: number
  /** Per audio track: expected start of its next packet, in its own ticks; NaN if unknown. */
  expected: number[]
}

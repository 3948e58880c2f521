// Where the clusters and blocks of a Matroska file lie, and how far it was read: what segments need, and later reads go on from.
import type { WalkPlace } from './elements/element-walk.ts'

/** Source of a MediaIndex made from Matroska or WebM. Plain values; about 60 bytes a cut. */
export interface MatroskaSource {
  container: 'matroska'
  /** Tracks as they were described, one entry each time that they changed. */
  sets: TrackSet[]
  /** Stretches on one clock, in order; the first begins at cut 0. */
  sections: Section[]
  splitPoints: SplitPointPlaces
  /** Behind the last whole element. */
  endOffset: number
  /** What the scan has to know to go on. */
  scan: ScanMemory
}

/** Per cut, as parallel arrays. */
export interface SplitPointPlaces {
  /** Position of the first block's element. */
  offsets: Float64Array
  /** Of the cluster around it: time stamp and end. */
  clusterTicks: Float64Array
  clusterEnds: Float64Array
  /** Earliest presentation time of its pictures on the section's clock, in ticks of CLOCK_RATE; NaN where there are none. */
  earliestTicks: Float64Array
  /** Per sound: time of its first frame on the section's clock, in ticks of the sound; NaN where it has none in this cut. */
  audioStarts: Float64Array[]
}

/** Ticks per second of pictures and cuts: whole for the usual clock of 1 ms, and fine enough for any other. */
export const CLOCK_RATE = 90_000

/** The tracks in force. */
export interface TrackSet {
  video?: VideoStream
  /** In the order of the index's sounds; undefined where this one is missing. */
  audioTracks: (AudioStreamInfo | undefined)[]
  subtitles: SubtitleStream[]
}

interface StreamBase {
  number: number
  /** Bytes that were stripped from the front of each frame. */
  prefix?: Uint8Array
}

/** As the index lists the pictures. */
export interface DescribedVideo {
  kind: 'video'
  codec: string
  codecName: string
  width: number
  height: number
  rotationDegrees: 0
}

/** As the index lists a sound. */
export interface DescribedAudio {
  kind: 'audio'
  codec: string
  codecName: string
  channels: number
  sampleRate: number
  language?: string
  name?: string
  transcodedFrom?: RecordedAudio
}

/** Sound as it was recorded; `codec` in FFmpeg's words. */
export interface RecordedAudio {
  codec: RecordedCodec
  channels: number
  sampleRate: number
  extradata?: Uint8Array
}

export type RecordedCodec =
  | 'mp2'
  | 'mp3'
  | 'ac3'
  | 'eac3'
  | 'dts'
  | 'truehd'
  | 'vorbis'
  | 'pcm_s16le'
  | 'pcm_s16be'
  | 'pcm_s24le'
  | 'pcm_s24be'
  | 'pcm_s32le'
  | 'pcm_f32le'
  | 'pcm_u8'
  | 'pcm_alaw'
  | 'pcm_mulaw'

export interface VideoStream extends StreamBase {
  described: DescribedVideo
  codec: 'h264' | 'hevc' | 'av1' | 'vp9'
  /** Absent until the first key frame is read, where the file itself has no decoder set-up (VP9, AV1). */
  config?: { sampleEntry: Uint8Array; extradata?: Uint8Array }
  /** Presentation size in pixels. */
  displayWidth: number
  displayHeight: number
  /** 0 where it is not said. */
  defaultDurationTicks: number
  colour?: { primaries: number; transfer: number; matrix: number; isFullRange: boolean }
}

export interface AudioStreamInfo extends StreamBase {
  described: DescribedAudio
  /** Ticks per second of the sound as it is served: the sample rate. */
  timescale: number
  /** Absent where the sound is transcoded. */
  sampleEntry?: Uint8Array
  delaySeconds: number
  frame: FrameLength
}

/** How long a frame of sound is, in samples. */
export type FrameLength =
  | { kind: 'fixed'; ticks: number }
  | { kind: 'opus' }
  | { kind: 'pcm'; sampleBytes: number }
  | { kind: 'unknown' }

export interface SubtitleStream {
  number: number
  format: 'srt' | 'ass' | 'webvtt' | 'webm-vtt'
  isZlib: boolean
  language?: string
  name?: string
  isDefault: boolean
}

/** From one break to the next. */
export interface Section {
  firstSplitPoint: number
  set: number
  nsPerTick: number
  /** What is taken from the section's clock to get the session's, in ticks of CLOCK_RATE. */
  shiftTicks: number
  /** By so much pictures are decoded before they are shown. */
  delayTicks: number
  /** Pictures before this position are not served: there is no key frame before them. Infinity where none was met. */
  firstFrameAt: number
}

/** What the scan remembers. Times are ticks of CLOCK_RATE on the clock of the current section. */
export interface ScanMemory {
  place: WalkPlace
  nsPerTick: number
  /** The set in force; -1 before Tracks. */
  set: number
  /** What the current Tracks element holds, to know it again. */
  tracksHash: string
  /** Whether a segment was entered; the next is that of a file put behind. */
  hasSegment: boolean
  /** Whether the next block begins a section. */
  awaitsSection: boolean
  /** Whether pictures without their key frame were met since. */
  hasOrphans: boolean
  run: SectionRun
  /** First of the cuts that are taken back where a picture comes; Infinity where there are none. */
  tentativeFrom: number
  /** End of the first cluster with media, as far as it is known. */
  firstClusterEnd: number
  hasSeenFrame: boolean
  hasSeenOrphan: boolean
  /** Cues of the open section's first cut, whose place on the session's timeline is not settled. */
  pendingCues: PendingCue[]
  /** Per text track: how many of its cues in the index are settled. */
  settledCues: number[]
  cueCount: number
  cueCharacters: number
  flaws: Flaw[]
}

/** What is told of a flaw: a note of the index. */
export interface Flaw {
  kind: 'damaged' | 'gap' | 'sound-left-out' | 'text-left-out'
  message: string
  offsetBytes?: number
  seconds?: number
}

export interface PendingCue {
  track: number
  startTicks: number
  endTicks: number
  text: string
}

/** What is known of the section that the scan is in. */
export interface SectionRun {
  /** Where the section begins on the session's timeline. */
  startTicks: number
  /** Earliest time of all; settled with the second cut. */
  originTicks: number
  isSettled: boolean
  isDelaySettled: boolean
  /** Latest time of pictures and of the first sound. */
  latestTicks: number
  frameCount: number
  firstFrameTicks: number
  maxFrameTicks: number
  /** What `maxPictureTicks` was before the last picture that raised it: pictures shown between the two are reordered. */
  priorMaxFrameTicks: number
  lastKeyTicks: number
  lastFrameDurationTicks: number
  /** Presentation times of the first pictures, in decode order, until the delay is settled. */
  frameTicks: number[]
  hasOrphans: boolean
  lastAudioTicks: number
  audioEndTicks: number
  /** Per sound: where its next frame is expected, in its own ticks; NaN where nothing is. */
  expected: number[]
}

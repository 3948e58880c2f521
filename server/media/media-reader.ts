// The interface of a container reader. A reader is stateless; its only side effect is to read the
// file it gets.
import type { OpenFile } from '../storage/recordings/storage.ts'
import type { KeyFrame, MediaIndex, SplitPointRange, SplitPointTable } from './media-index.ts'

/** A part of a response body: bytes from memory, or a byte range of the recording. */
export type Part = BytesPart | RangePart

export interface BytesPart {
  kind: 'bytes'
  bytes: Uint8Array
}

export interface RangePart {
  kind: 'range'
  offset: number
  length: number
  /** `m2ts`: whole 192-byte packets, each sent without its 4-byte prefix (188 bytes). */
  packing?: 'm2ts'
}

/**
 * Samples of one track in a segment, in decode order, as parallel arrays of equal length (at least
 * one).
 */
export interface SampleRun {
  kind: 'video' | 'audio'
  timescale: number
  /** Decode time of the first sample on the session timeline, never negative. */
  firstDecodeTicks: number
  sizes: Uint32Array
  /** Position of each sample in the recording; absent if `bytes` contains them. */
  offsets?: Float64Array
  /** All samples, concatenated, if the recording does not contain them in the form that is sent. */
  bytes?: Uint8Array
  /**
   * Parameter sets that precede the bytes of the first sample, whose size includes them: a decoder
   * which begins with the run does not have them.
   */
  prefix?: Uint8Array
  /** Decode-time distance to the next sample. */
  durations: Uint32Array
  /** Presentation time minus decode time (edit list applied); absent if all are 0. */
  compositionOffsets?: Int32Array
  /** 1 for key frames; absent if every sample is one (audio). */
  syncs?: Uint8Array
}

/** Content of a segment: samples for fMP4, or MPEG-TS packets to send as they are. */
export type SegmentContent = { kind: 'samples'; runs: SampleRun[] } | { kind: 'ts'; parts: Part[] }

/** One track of an fMP4 init segment. */
export interface InitTrack {
  kind: 'video' | 'audio'
  timescale: number
  /**
   * A complete sample entry box (ISO/IEC 14496-12 8.5.2), e.g. `avc1` with its `avcC`; HEVC is
   * always `hvc1`.
   */
  sampleEntry: Uint8Array
  /** tkhd matrix, nine 32-bit values (ISO/IEC 14496-12 6.2.2); absent for the identity. */
  matrix?: Int32Array
  /** Presentation size in pixels for tkhd. */
  width: number
  height: number
}

/** A range of split points, and which tracks of the index to read. */
export interface SegmentRange extends SplitPointRange {
  /**
   * Positions in `MediaIndex.tracks`; by default the video and the default audio track. Never set
   * for MPEG-TS segments (where `initTracks` returns undefined).
   */
  tracks?: readonly number[]
}

/**
 * A container reader. Only `index` may read much of the file; the other calls read what one segment
 * needs.
 */
export interface MediaReader {
  /**
   * Indexes tracks and key frames. `previous` is the index of the same recording when it was
   * shorter, and has `growth`: only the appended bytes are read, and all stable split points stay.
   * Without `previous`, the result for the same bytes is the same.
   * Throws UnplayableError with the reason.
   */
  index(file: OpenFile, signal: AbortSignal, previous?: MediaIndex): Promise<MediaIndex>
  /**
   * Content of the segment with these split points. Audio to be transcoded (`transcodedFrom`) is
   * returned as recorded. Throws AppError `failed` if the file no longer matches the index.
   */
  readSegment(file: OpenFile, index: MediaIndex, range: SegmentRange): Promise<SegmentContent>
  /**
   * Tracks of the fMP4 init segment at a split point, in index order; undefined for MPEG-TS
   * segments. Omits audio to be transcoded, whose init track the transcoder provides. Does no I/O.
   * Constant from one SPLIT_DISCONTINUITY to the next.
   */
  initTracks(
    index: MediaIndex,
    splitPoint: number,
    tracks?: readonly number[],
  ): InitTrack[] | undefined
  /**
   * The index that gives fMP4 segments for a recording whose segments are MPEG-TS (where
   * `initTracks` returns undefined); undefined if that is impossible. `growth` describes these
   * segments. Does no I/O.
   */
  asSamples?(index: MediaIndex): MediaIndex | undefined
  /** The key frame at a split point; undefined if it has none, or an unreadable one. */
  readKeyFrame(file: OpenFile, index: MediaIndex, splitPoint: number): Promise<KeyFrame | undefined>
  /**
   * The chapters that the container lists, at most MAX_RECORDED_CHAPTERS, in any order; absent for
   * a container without any. Reads little, and only where they are. Throws UnplayableError or
   * AppError `failed` for a corrupt file.
   */
  readChapters?(file: OpenFile, signal: AbortSignal): Promise<RecordedChapter[]>
}

/** The frames of one recording of a session, for images. */
export interface PartFrames {
  /** Identifies the content. */
  identity: string
  /** Nodes that have the recording have the same identity for it. */
  isFinal: boolean
  /** Of what is listed. */
  durationSeconds: number
  splitPoints: SplitPointTable
  /** Number of split points in listed segments: the first ones. */
  listedSplitPoints: number
  /** Size of the upright video, as far as the container has it; undefined without video. */
  size(this: void): { width: number; height: number } | undefined
  /** @throws AppError `gone` if the recording was replaced; `not_found`, `busy`, `failed` */
  open(this: void): Promise<KeyFrameFile>
}

/** An open recording. The caller closes it. */
export interface KeyFrameFile {
  /** Undefined if there is no key frame at the split point, or an unreadable one. */
  read(splitPoint: number): Promise<KeyFrame | undefined>
  /** @throws AppError `failed` if the recording has changed while it was read */
  checkUnchanged(): Promise<void>
  close(): Promise<void>
}

/** A chapter as the container has it: nothing of it is checked. */
export interface RecordedChapter {
  /** Seconds on the container's timeline, which starts at or close to 0. */
  startSeconds: number
  endSeconds?: number
  /** Untrusted text of at most MAX_CHAPTER_TITLE_BYTES; may be empty. */
  title: string
}

/** Chapters of one file that are read, and bytes of the title of each. */
export const MAX_RECORDED_CHAPTERS = 1000
export const MAX_CHAPTER_TITLE_BYTES = 4096

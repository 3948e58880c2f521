// The questions that every container's reader answers. A reader is pure but for reads of the file it is handed.
import type { OpenFile } from '../storage/storage.ts'
import type { SplitPointRange, KeyFrame, MediaIndex } from './media-index.ts'

/** A piece of a segment: bytes of our own, or a range of the recording. */
export type Part = BytesPart | RangePart

export interface BytesPart {
  kind: 'bytes'
  bytes: Uint8Array
}

export interface RangePart {
  kind: 'range'
  /** Position of the first byte in the recording. */
  offset: number
  /** Number of bytes in the recording. */
  length: number
  /** `m2ts`: whole 192-byte packets, whose 4-byte prefix is dropped when sent (each gives 188 bytes). */
  packing?: 'm2ts'
}

/** Samples of one track inside a segment, in decode order, as parallel arrays of equal length (at least one). */
export interface SampleRun {
  kind: 'video' | 'audio'
  /** Ticks per second of all times below. */
  timescale: number
  /** Decode time of the first sample on the session's timeline, never negative. */
  firstDecodeTicks: number
  sizes: Uint32Array
  /** Position of each sample in the recording; absent where `bytes` holds them. */
  offsets?: Float64Array
  /** All samples, one behind the other, where they cannot be sent as they lie in the recording. */
  bytes?: Uint8Array
  /** Decode-time distance to the next sample. */
  durations: Uint32Array
  /** Presentation time minus decode time (edit list folded in); absent when all are 0. */
  compositionOffsets?: Int32Array
  /** 1 for key frames; absent when all are (audio). */
  syncs?: Uint8Array
}

/** What a segment is made of: fMP4 from samples, or MPEG-TS that is already laid out. */
export type SegmentContent = { kind: 'samples'; runs: SampleRun[] } | { kind: 'ts'; parts: Part[] }

/** One track's part of an fMP4 init segment. */
export interface InitTrack {
  kind: 'video' | 'audio'
  timescale: number
  /** A whole sample entry box (ISO/IEC 14496-12 8.5.2), e.g. `avc1` with its `avcC`; HEVC always as `hvc1`. */
  sampleEntry: Uint8Array
  /** tkhd matrix, nine 32-bit values (ISO/IEC 14496-12 6.2.2); absent = identity. */
  matrix?: Int32Array
  /** Presentation size in pixels for tkhd. */
  width: number
  height: number
}

/** What is asked of a recording: cuts, and which of the index's tracks. */
export interface SegmentRange extends SplitPointRange {
  /**
   * Numbers of tracks in `MediaIndex.tracks`; absent: the video and the first sound. Where segments are MPEG-TS
   * (`initTracks` gives undefined), it is never given.
   */
  tracks?: readonly number[]
}

/** A container's reader. `index` is the only call that may read much; the others read what one segment needs. */
export interface MediaReader {
  /**
   * Reads where tracks and key frames lie. `previous` is the index of the same recording when it was shorter (its
   * `growth` is there): only what was added is read, all stable cuts stay as they were. Without it, what has
   * been written so far of a recording that grows is indexed alike, and with the same outcome.
   *
   * Throws AppError `unplayable` with a reason a person understands (`the video is MPEG-2, which no browser plays in HLS`,
   * `the file ends before its index (moov)`).
   */
  index(file: OpenFile, signal: AbortSignal, previous?: MediaIndex): Promise<MediaIndex>
  /**
   * Content of the segment that holds the cuts. Sound that is transcoded (`transcodedFrom`) comes as it was recorded.
   * Throws AppError `failed` where the file no longer matches.
   */
  readSegment(file: OpenFile, index: MediaIndex, range: SegmentRange): Promise<SegmentContent>
  /**
   * Tracks for the fMP4 init segment in force at a cut, in the index's order; undefined where segments are MPEG-TS. Of sound that is
   * transcoded there is none: who transcodes it knows it. Needs no read. The same for all cuts up to the next CUT_BREAK.
   */
  initTracks(
    index: MediaIndex,
    splitPoint: number,
    tracks?: readonly number[],
  ): InitTrack[] | undefined
  /**
   * The index of the same recording with segments of fMP4, where `initTracks` gives undefined; undefined where that cannot
   * be. A recording that grows keeps the form it has. Needs no read.
   */
  asSamples?(index: MediaIndex): MediaIndex | undefined
  /** The key frame at a cut; undefined where the recording has no pictures. */
  readKeyFrame(file: OpenFile, index: MediaIndex, splitPoint: number): Promise<KeyFrame | undefined>
}

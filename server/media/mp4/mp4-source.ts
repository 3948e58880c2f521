// Where the sample tables of an MP4 file lie, and how far each has been read at every cut: what a segment needs.
import type { SampleTables } from './sample-tables/sample-tables.ts'

/** Source of a MediaIndex made from MP4 or MOV. Plain values; grows with the number of cuts, not of samples. */
export interface Mp4Source {
  container: 'mp4'
  sizeBytes: number
  /** In the order of the index's tracks. */
  tracks: Mp4Track[]
}

/** One track that is served. */
export interface Mp4Track {
  kind: 'video' | 'audio'
  /** Ticks per second of what is served: the file's timescale times `tickScale`. */
  timescale: number
  /** What the file's ticks are multiplied with, so that coarse clocks can be shifted finely. */
  tickScale: number
  /**
   * Added to decode times, in served ticks: edit list, common shift, and what keeps composition offsets from being
   * negative. Where it is negative itself, the first decode times are lifted (`liftDecodeTimes`).
   */
  decodeShiftTicks: number
  /** Added to composition offsets, in served ticks, for the last of the three; never negative. */
  compositionShiftTicks: number
  samples: SampleMap
  /** Where each cut of the index begins in this track. */
  cursors: CursorTable
  /** Codec configurations in use, at least one. */
  descriptions: Mp4Description[]
  /** Which of them holds at each cut; absent where there is one. */
  descriptionOfSplitPoint?: Uint8Array
  /** Of uncompressed sound, whose samples are tiny: so many are handed on as one packet. */
  packetSamples?: number
  /** tkhd matrix; absent = identity. */
  matrix?: Int32Array
  /** Presentation size in pixels; 0 for sound. */
  width: number
  height: number
}

/** One codec configuration. */
export interface Mp4Description {
  /** Clean sample entry box for an init segment; absent for sound that is transcoded. */
  sampleEntry?: Uint8Array
  /** For pictures: what a decoder needs. */
  decoder?: Mp4Decoder
}

/** What decodes a track's pictures: `extradata` is the payload of avcC, hvcC or av1C. */
export interface Mp4Decoder {
  codec: 'h264' | 'hevc' | 'av1' | 'vp9'
  extradata?: Uint8Array
}

/** Where samples lie in the file, and shortcuts into the tables that say so. */
export interface SampleMap {
  tables: SampleTables
  /** Samples that are served: those that all tables and the file itself hold. */
  sampleCount: number
  /** First sample of every CHUNK_RUN_STEP-th run of stsc. */
  chunkRunSamples: Uint32Array
  /** Bytes of all samples before every SIZE_STEP-th one; only where chunks are so long that they are needed. */
  sizeSums?: Float64Array
}

/** Positions in a track's tables, one for each cut, as parallel arrays. Samples count from 0. */
export interface CursorTable {
  samples: Uint32Array
  /** Sum of the file's durations before the sample, in the file's ticks. */
  decodeTicks: Float64Array
  /** Run of stts that holds the sample, and how many of its samples come before. */
  durationRuns: Uint32Array
  durationUsed: Uint32Array
  /** The same for ctts; absent where there is none. */
  offsetRuns?: Uint32Array
  offsetUsed?: Uint32Array
  /** First entry of stss that is not before the sample; absent where there is none. */
  syncs?: Uint32Array
}

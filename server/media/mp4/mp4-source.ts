// What an MP4 index stores: where the sample tables are, and a cursor into them at each split
// point.
import type { SegmentSets } from '../codec/parameter-sets.ts'
import type { EntryRange } from './sample-tables/table-entries.ts'
import type { SampleTables } from './sample-tables/sample-tables.ts'

/**
 * Source of a MediaIndex for MP4 or MOV. A plain value; its size depends on the number of split
 * points, not of samples.
 */
export interface Mp4Source {
  container: 'mp4'
  sizeBytes: number
  /** In the order of `MediaIndex.tracks`. */
  tracks: Mp4Track[]
}

/** One served track. */
export interface Mp4Track {
  kind: 'video' | 'audio'
  /** Ticks per second of the output: the track's timescale times `tickScale`. */
  timescale: number
  /** Output ticks per tick of the file. Above 1 for coarse clocks, to shift them precisely. */
  tickScale: number
  /**
   * Added to decode times, in output ticks: the edit list, the shift common to all tracks, and the
   * negative of `compositionShiftTicks`. First decode times that it makes negative are raised
   * (`raiseDecodeTimes`).
   */
  decodeShiftTicks: number
  /** Added to composition offsets, in output ticks, so that none is negative. */
  compositionShiftTicks: number
  samples: SampleMap
  /** Where each split point of the index is in this track. */
  cursors: CursorTable
  /** Codec configurations in use, at least one. */
  descriptions: Mp4Description[]
  /** Index into `descriptions` for each split point; absent if there is only one. */
  descriptionOfSplitPoint?: Uint8Array
  /** Absent if each segment has its parameter sets without them. */
  sets?: SegmentSets
  /** For PCM, whose samples are tiny: how many form one packet. */
  packetSamples?: number
  /** tkhd matrix; absent for the identity. */
  matrix?: Int32Array
  /** Presentation size in pixels; 0 for audio. */
  width: number
  height: number
}

/** One codec configuration. */
export interface Mp4Description {
  /** Sample entry box for an init segment, sanitised; absent for audio that is transcoded. */
  sampleEntry?: Uint8Array
  /** Decoder parameters; for video only. */
  decoder?: Mp4Decoder
}

/** Decoder parameters: `extradata` is the payload of avcC, hvcC or av1C. */
export interface Mp4Decoder {
  codec: 'h264' | 'hevc' | 'av1' | 'vp9'
  extradata?: Uint8Array
  /** Samples may contain parameter sets that `extradata` does not. */
  setsInBand?: true
}

/** Location of a track's sample tables, with precomputed sums for random access. */
export interface SampleMap {
  tables: SampleTables
  /** Composition offsets beyond this, in either direction, count as 0. */
  maxOffsetTicks: number
  /** Served samples: those that all tables list and the file contains. */
  sampleCount: number
  /** First sample of every CHUNK_RUN_STEP-th run of stsc. */
  chunkRunSamples: Uint32Array
  /**
   * Total size of the samples before every SIZE_STEP-th one; present only for long chunks, which
   * need it.
   */
  sizeSums?: Float64Array
  /** Ranges of samples that are left out because the tables are corrupt, in order. */
  unreadable?: EntryRange[]
}

/** Positions in a track's tables at each split point, as parallel arrays. Samples count from 0. */
export interface CursorTable {
  samples: Uint32Array
  /** Sum of the durations before the sample, in the track's own ticks. */
  decodeTicks: Float64Array
  /** The stts run with the sample, and how many samples of that run precede it. */
  durationRuns: Uint32Array
  durationUsed: Uint32Array
  /** The same for ctts; absent without ctts. */
  offsetRuns?: Uint32Array
  offsetUsed?: Uint32Array
  /** First stss entry at or after the sample; absent without stss. */
  syncs?: Uint32Array
}

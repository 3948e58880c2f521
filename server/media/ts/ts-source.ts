// Split points, key frames and program tables of an MPEG-TS file.
import type { VideoCodec } from '../codec/nal-unit.ts'
import type { SegmentSets } from '../codec/parameter-sets.ts'
import type { PacketBytes, PacketLayout } from './packets/packet.ts'
import type { AudioConfig } from './packets/audio-frame.ts'
import type { ScanOptions, StoredScan } from './scan/scan-state.ts'

/**
 * Source of a MediaIndex made from MPEG-TS: about 13 bytes per split point, and the tables once.
 * Positions are in bytes of the file.
 */
export interface TsSource {
  container: 'ts'
  /** Segments are recorded packets, or fMP4 made from their samples. */
  form: TsForm
  packetBytes: PacketBytes
  /**
   * First packet of each split point. Its segment ends at the next one, the last at `endOffset`.
   */
  offsets: Float64Array
  endOffset: number
  /**
   * Per split point: up to this many bytes after its offset, packets of audio continue a PES packet
   * from before it, and belong to the previous segment. Almost always 0: most muxers write PES
   * packets in one run.
   */
  carryBytes: Uint32Array
  /**
   * Per split point: continuity counters of the last PAT (high four bits) and PMT (low four bits).
   */
  tableCounters: Uint8Array
  /**
   * Ranges of no segment, as pairs of first byte and end, in order: lost sync, or audio after a
   * discontinuity without its key frame.
   */
  holes: Float64Array
  /** Parameter sets for key frames without them; absent if all key frames have them. */
  sets?: SegmentSets
  /** Split points with the same tables and parameter sets, in order; the first begins at 0. */
  sections: TsSection[]
  /**
   * State to continue with when the recording grows; absent while its start does not identify it.
   */
  resume?: TsResume
}

/** The end of a scan, as plain values. */
export interface TsResume {
  layout: PacketLayout
  options: ScanOptions
  main: StoredScan
  /** The scan of the audio alone, while listed video is missing. */
  alone?: StoredScan
}

/** From one discontinuity to the next. */
export interface TsSection {
  firstSplitPoint: number
  /**
   * `verbatim`: the recorded tables, which stay within segments. `own`: generated tables of the
   * served streams, and segments without any other packets.
   */
  tables: 'verbatim' | 'own'
  /** Whole PAT and PMT sections (ISO/IEC 13818-1 2.4.4) to precede a segment. */
  pat: Uint8Array
  pmt: Uint8Array
  pmtPid: number
  videoPid?: number
  audioPid?: number
  videoCodec?: 'h264' | 'hevc'
  /** Parameter sets as Annex B, for key frames without them. */
  parameterSets?: Uint8Array
  /**
   * The samples of the section. In the form `verbatim`, once for sections that differ only in their
   * tables.
   */
  samples?: TsSamples
}

export type TsForm = 'verbatim' | 'fmp4'

/** The streams of a section, as in fMP4. */
export interface TsSamples {
  /** Time on the recording's clock, in unwrapped ticks, at which the session is at 0. */
  shiftTicks: number
  /** Whether it continues the clock of the previous section. */
  continues: boolean
  video?: TsVideo
  /** Its audio, in the order of the tracks of the index. */
  audioTracks: TsAudio[]
}

export interface TsVideo {
  pid: number
  codec: VideoCodec
  /** Content of avcC or hvcC. */
  config: Uint8Array
  width: number
  height: number
}

export interface TsAudio extends AudioConfig {
  pid: number
  /** Number of the audio track in the index. */
  audio: number
}

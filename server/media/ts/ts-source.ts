// Where the key frames and program tables of an MPEG-TS file lie.
import type { VideoCodec } from '../codec/nal-unit.ts'
import type { PacketBytes, PacketLayout } from './packets/packet.ts'
import type { ScanOptions, StoredScan } from './scan/scan-state.ts'
import type { AudioConfig } from './packets/audio-frame.ts'

/** What segments need of an MPEG-TS file: about 13 bytes a cut, and the tables once. Positions are in bytes of the file. */
export interface TsSource {
  container: 'ts'
  /** Segments are the recording's own packets, or fMP4 made of the samples in them. */
  form: TsForm
  packetBytes: PacketBytes
  /** First packet of each cut; a cut ends where the next begins, the last at `endOffset`. */
  offsets: Float64Array
  endOffset: number
  /**
   * Per cut: up to this many bytes behind its offset, packets of the sound that continue a PES packet begun before the
   * cut. They belong to the cut before. 0 nearly always: most muxers write PES packets in one piece.
   */
  carryBytes: Uint32Array
  /** Per cut: continuity counters of the last PAT (high four bits) and PMT (low four bits) before it. */
  tableCounters: Uint8Array
  /** Ranges that belong to nobody, as pairs of first byte and end, in order: lost sync, sound behind a break without its key frame. */
  holes: Float64Array
  /** Stretches of cuts with the same tables and parameter sets, in order; the first begins at cut 0. */
  sections: TsSection[]
  /** What indexing goes on with when the recording has grown; absent while its beginning does not settle what it is. */
  resume?: TsResume
}

/** Where a scan stopped, as plain values. */
export interface TsResume {
  layout: PacketLayout
  options: ScanOptions
  main: StoredScan
  /** The scan of the sound alone, where no promised picture has come so far. */
  alone?: StoredScan
}

/** From one break to the next. */
export interface TsSection {
  firstSplitPoint: number
  /**
   * `verbatim`: the tables are the recording's own, and those inside of segments stay. `own`: the tables list only what
   * is served, and those of the recording are left out of segments.
   */
  tables: 'verbatim' | 'own'
  /** Whole PAT and PMT sections (ISO/IEC 13818-1 2.4.4), to be put in front of a segment. */
  pat: Uint8Array
  pmt: Uint8Array
  pmtPid: number
  videoPid?: number
  audioPid?: number
  videoCodec?: 'h264' | 'hevc'
  /** Parameter sets as Annex B, for key frames that come without. */
  parameterSets?: Uint8Array
  /** What samples are made of. Where the form is `verbatim`, one for the sections that differ in their tables alone. */
  samples?: TsSamples
}

export type TsForm = 'verbatim' | 'fmp4'

/** The streams of a section, as fMP4 holds them. */
export interface TsSamples {
  /** Time on the recording's clock, in unwrapped ticks, at which the session's timeline is 0. */
  shiftTicks: number
  /** Whether the clock goes on from the section before. */
  continues: boolean
  video?: TsVideo
  /** Sounds that are here, in the order of the index's tracks. */
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
  /** Number among the index's sounds. */
  audio: number
}

// What the file of each video codec states.

/** A codec and its names in containers. */
export interface VideoFormat {
  /** Display name. */
  codecName: string
  /** Sample entry of tracks from other containers, and the box with the configuration record. */
  entry: string
  box: string
  /** Sample entries of MP4 files, and which one their init segments have. */
  entries: Readonly<Record<string, string>>
  matroska: readonly string[]
  /** Stream types and registrations of MPEG-TS; empty if it is not served from there. */
  ts: readonly (number | string)[]
  /** Codec ids of FLV, and the four-character codes of Enhanced RTMP. */
  flv: readonly (number | string)[]
  /** Codec string (RFC 6381) from the configuration record; undefined if that is too short. */
  format: (config: DataView, entryType: string) => string | undefined
}

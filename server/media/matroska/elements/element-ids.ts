// IDs of the Matroska elements that the reader uses (RFC 9559 5.1).

export const EBML_HEADER = 0x1a45dfa3
export const DOC_TYPE = 0x4282
export const SEGMENT = 0x18538067
export const INFO = 0x1549a966
export const TIMESTAMP_SCALE = 0x2ad7b1
export const TRACKS = 0x1654ae6b
export const CLUSTER = 0x1f43b675
export const SEEK_HEAD = 0x114d9b74
export const CHAPTERS = 0x1043a770
export const CLUSTER_TIMESTAMP = 0xe7
export const SIMPLE_BLOCK = 0xa3
export const BLOCK_GROUP = 0xa0
export const BLOCK = 0xa1
export const BLOCK_DURATION = 0x9b
export const REFERENCE_BLOCK = 0xfb

const VOID = 0xec
const CRC32 = 0xbf

/** Skipped children of a segment. */
const SEGMENT_LEVEL: readonly number[] = [
  SEEK_HEAD,
  0x1c53bb6b, // Cues
  0x1254c367, // Tags
  CHAPTERS,
  0x1941a469, // Attachments
]
/** Skipped children of a cluster: SilentTracks, Position, PrevSize, EncryptedBlock. */
const CLUSTER_LEVEL: readonly number[] = [0x5854, 0xa7, 0xab, 0xaf]

export const SKIPPED_SEGMENT_LEVEL: ReadonlySet<number> = new Set(SEGMENT_LEVEL)
export const SKIPPED: ReadonlySet<number> = new Set([
  VOID,
  CRC32,
  ...SEGMENT_LEVEL,
  ...CLUSTER_LEVEL,
])

/**
 * Possible first children of a cluster, which distinguish a cluster from bytes that look like one.
 */
export const FIRST_IN_CLUSTER: ReadonlySet<number> = new Set([
  CLUSTER_TIMESTAMP,
  SIMPLE_BLOCK,
  BLOCK_GROUP,
  VOID,
  CRC32,
  ...CLUSTER_LEVEL,
])

/** Elements that can occur at the position of a walk: in a file, a segment or a cluster. */
export const KNOWN: ReadonlySet<number> = new Set([
  EBML_HEADER,
  SEGMENT,
  INFO,
  TRACKS,
  CLUSTER,
  ...FIRST_IN_CLUSTER,
  ...SEGMENT_LEVEL,
])

/** Children of a track (RFC 9559 5.1.4). */
export const TRACK = {
  entry: 0xae,
  number: 0xd7,
  type: 0x83,
  isEnabled: 0xb9,
  isDefault: 0x88,
  isForced: 0x55aa,
  codec: 0x86,
  codecPrivate: 0x63a2,
  defaultDuration: 0x23e383,
  name: 0x536e,
  language: 0x22b59c,
  languageBcp47: 0x22b59d,
  codecDelay: 0x56aa,
  video: 0xe0,
  audio: 0xe1,
  encodings: 0x6d80,
} as const

/** Children of SeekHead (5.1.1). */
export const SEEK = { entry: 0x4dbb, id: 0x53ab, position: 0x53ac } as const

/** Descendants of Chapters (5.1.7). */
export const CHAPTER = {
  edition: 0x45b9,
  isDefaultEdition: 0x45db,
  isHiddenEdition: 0x45bd,
  atom: 0xb6,
  start: 0x91,
  end: 0x92,
  isHidden: 0x98,
  isEnabled: 0x4598,
  display: 0x80,
  title: 0x85,
} as const

export const VIDEO = {
  width: 0xb0,
  height: 0xba,
  displayWidth: 0x54b0,
  displayHeight: 0x54ba,
  displayUnit: 0x54b2,
  colour: 0x55b0,
} as const

export const COLOUR = {
  matrix: 0x55b1,
  bits: 0x55b2,
  subsamplingAcross: 0x55b3,
  subsamplingDown: 0x55b4,
  range: 0x55b9,
  transfer: 0x55ba,
  primaries: 0x55bb,
} as const

export const AUDIO = { rate: 0xb5, outputRate: 0x78b5, channels: 0x9f, bits: 0x6264 } as const

export const ENCODING = {
  entry: 0x6240,
  scope: 0x5032,
  type: 0x5033,
  compression: 0x5034,
  algorithm: 0x4254,
  settings: 0x4255,
} as const

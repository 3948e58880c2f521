// Builds Matroska files element by element, so that tests can lay them out in any way a recorder
// might, also a wrong one.

/** Bytes of an element, from its ID (as in RFC 9559, marker included) and content. */
export function element(id: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([idBytes(id), sizeBytes(content.length), content])
}

/** An element's head with unknown size. */
export function openElement(id: number, sizeLength: 1 | 8 = 8): Buffer {
  const size = sizeLength === 1 ? [0xff] : [0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]
  return Buffer.concat([idBytes(id), Buffer.from(size)])
}

/** A head that claims any size. */
export function claimedElement(id: number, size: number): Buffer {
  return Buffer.concat([idBytes(id), sizeBytes(size)])
}

export function uint(id: number, value: number): Buffer {
  const hex = value.toString(16)
  return element(id, Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'))
}

export function float64(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return element(id, bytes)
}

export function text(id: number, value: string): Buffer {
  return element(id, Buffer.from(value))
}

export const ID = {
  ebml: 0x1a45dfa3,
  docType: 0x4282,
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
  blockDuration: 0x9b,
  referenceBlock: 0xfb,
  void: 0xec,
  crc32: 0xbf,
  cues: 0x1c53bb6b,
  seekHead: 0x114d9b74,
  tags: 0x1254c367,
  prevSize: 0xab,
} as const

export function ebmlHead(docType = 'matroska'): Buffer {
  return element(ID.ebml, text(ID.docType, docType))
}

export function info(timestampScale = 1_000_000): Buffer {
  return element(ID.info, uint(ID.timestampScale, timestampScale))
}

/** A track as Tracks describes it; what is left out is not written. */
export interface TrackPlan {
  number: number
  type: 'video' | 'audio' | 'text'
  codec: string
  codecPrivate?: Uint8Array
  language?: string
  name?: string
  isDefault?: boolean
  isEnabled?: boolean
  defaultDurationNs?: number
  codecDelayNs?: number
  width?: number
  height?: number
  /** In pixels. */
  displaySize?: { width: number; height: number }
  sampleRate?: number
  channels?: number
  bits?: number
  /** Whole ContentEncodings element. */
  encodings?: Uint8Array
}

const TRACK_TYPES = { video: 1, audio: 2, text: 17 }

export function tracks(...plans: TrackPlan[]): Buffer {
  return element(ID.tracks, ...plans.map(trackEntry))
}

function trackEntry(plan: TrackPlan): Buffer {
  const given = <Value>(value: Value | undefined, write: (value: Value) => Buffer): Buffer =>
    value === undefined ? Buffer.alloc(0) : write(value)
  return element(
    0xae,
    uint(0xd7, plan.number),
    uint(0x83, TRACK_TYPES[plan.type]),
    text(0x86, plan.codec),
    given(plan.isDefault, (value) => uint(0x88, value ? 1 : 0)),
    given(plan.isEnabled, (value) => uint(0xb9, value ? 1 : 0)),
    given(plan.language, (value) => text(0x22b59c, value)),
    given(plan.name, (value) => text(0x536e, value)),
    given(plan.defaultDurationNs, (value) => uint(0x23e383, value)),
    given(plan.codecDelayNs, (value) => uint(0x56aa, value)),
    given(plan.codecPrivate, (value) => element(0x63a2, value)),
    given(plan.width, (width) =>
      element(
        0xe0,
        uint(0xb0, width),
        uint(0xba, plan.height ?? width),
        given(plan.displaySize, (size) =>
          Buffer.concat([uint(0x54b0, size.width), uint(0x54ba, size.height)]),
        ),
      ),
    ),
    given(plan.sampleRate, (rate) =>
      element(
        0xe1,
        float64(0xb5, rate),
        uint(0x9f, plan.channels ?? 2),
        given(plan.bits, (bits) => uint(0x6264, bits)),
      ),
    ),
    given(plan.encodings, (value) => Buffer.from(value)),
  )
}

/** ContentEncodings with header stripping (algorithm 3), or another algorithm. */
export function contentEncodings(algorithm: number, settings: Uint8Array): Buffer {
  const compression = element(0x5034, uint(0x4254, algorithm), element(0x4255, settings))
  return element(0x6d80, element(0x6240, uint(0x5031, 0), uint(0x5033, 0), compression))
}

/** AVCDecoderConfigurationRecord of 128x72 video, as x264 writes its SPS and PPS. */
const SPS = Buffer.from('6764000bac7611082fe5c044000003000400000300083c50a61180', 'hex')
const PPS = Buffer.from('68e8438104b22c', 'hex')
export const AVC_CONFIG = Buffer.concat([
  Buffer.from([1, 0x64, 0, 0x0b, 0xff, 0xe1, 0, SPS.length]),
  SPS,
  Buffer.from([1, 0, PPS.length]),
  PPS,
])

export const H264_TRACK: TrackPlan = {
  number: 1,
  type: 'video',
  codec: 'V_MPEG4/ISO/AVC',
  codecPrivate: AVC_CONFIG,
  width: 128,
  height: 72,
}

/** AAC-LC, 48 kHz, stereo. */
export const AAC_TRACK: TrackPlan = {
  number: 2,
  type: 'audio',
  codec: 'A_AAC',
  codecPrivate: Buffer.from([0x11, 0x90]),
  sampleRate: 48_000,
}

export const SRT_TRACK: TrackPlan = { number: 3, type: 'text', codec: 'S_TEXT/UTF8' }

export type Lacing = 'none' | 'xiph' | 'ebml' | 'fixed'

/** One block: frames of a track, `time` in ticks of the segment. */
export interface BlockPlan {
  track: number
  time: number
  frames: Uint8Array[]
  isKey?: boolean
  lacing?: Lacing
  /** `group`: a BlockGroup; with a duration or without. */
  form?: 'simple' | 'group'
  duration?: number
}

const LACING_FLAGS = { none: 0, xiph: 2, fixed: 4, ebml: 6 }

/** A SimpleBlock or BlockGroup inside of a cluster of this timestamp. */
export function block(plan: BlockPlan, clusterTime: number): Buffer {
  const { track, time, frames, isKey = true, lacing = 'none', form = 'simple', duration } = plan
  const isSimple = form === 'simple'
  const head = Buffer.alloc(3)
  head.writeInt16BE(time - clusterTime)
  head[2] = LACING_FLAGS[lacing] | (isSimple && isKey ? 0x80 : 0)
  const content = [sizeBytes(track), head, laceHead(frames, lacing), ...frames]
  if (isSimple) return element(ID.simpleBlock, ...content)
  return element(
    ID.blockGroup,
    element(ID.block, ...content),
    ...(duration === undefined ? [] : [uint(ID.blockDuration, duration)]),
    ...(isKey ? [] : [element(ID.referenceBlock, Buffer.from([0xff]))]),
  )
}

function laceHead(frames: readonly Uint8Array[], lacing: Lacing): Buffer {
  if (lacing === 'none') return Buffer.alloc(0)
  const count = Buffer.from([frames.length - 1])
  const sizes = frames.slice(0, -1).map(({ length }) => length)
  if (lacing === 'fixed') return count
  if (lacing === 'xiph') {
    const coded = sizes.flatMap((size) => [
      ...Array.from({ length: Math.floor(size / 255) }, () => 255),
      size % 255,
    ])
    return Buffer.concat([count, Buffer.from(coded)])
  }
  const coded = sizes.map((size, i) =>
    i === 0 ? sizeBytes(size, 2) : sizeBytes(size - (sizes[i - 1] ?? 0) + 8191, 2),
  )
  return Buffer.concat([count, ...coded])
}

/** A cluster of these blocks; `open`: of unknown size. */
export function cluster(blocks: readonly BlockPlan[], size: 'known' | 'open' = 'known'): Buffer {
  const time = Math.max(0, blocks[0]?.time ?? 0)
  const content = [uint(ID.timestamp, time), ...blocks.map((plan) => block(plan, time))]
  return size === 'known'
    ? element(ID.cluster, ...content)
    : Buffer.concat([openElement(ID.cluster), ...content])
}

/**
 * Groups blocks into clusters of at least `ticks`, each begun at a key frame of track 1 or after
 * twice that time.
 */
export function clusters(
  blocks: readonly BlockPlan[],
  { ticks = 2000, size = 'known' }: { ticks?: number; size?: 'known' | 'open' } = {},
): Buffer[] {
  const groups: BlockPlan[][] = []
  let start = -Infinity
  for (const plan of blocks) {
    const age = Math.abs(plan.time - start)
    const isDue = age >= ticks && plan.track === 1 && plan.isKey !== false
    if (groups.length === 0 || isDue || age >= 2 * ticks) {
      groups.push([])
      start = plan.time
    }
    groups.at(-1)?.push(plan)
  }
  return groups.map((group) => cluster(group, size))
}

/** A file of a Segment of unknown size: head, tracks, clusters. */
export function mkvFile(plans: TrackPlan[], clusterBytes: readonly Uint8Array[]): Buffer {
  const head = [ebmlHead(), openElement(ID.segment), info(), tracks(...plans)]
  return Buffer.concat([...head, ...clusterBytes])
}

/** What a made film looks like. Times in milliseconds. */
export interface FilmPlan {
  seconds: number
  fps?: number
  keyEveryMs?: number
  /** Frames between two reference frames, as a pyramid: 0 (none), 1 or 3. */
  reordered?: 0 | 1 | 3
  /** Added to all times. */
  startMs?: number
  audio?: 'with' | 'without'
  frameBytes?: number
}

/** Interleaved blocks of H.264 on track 1 and AAC on track 2. All payloads differ. */
export function filmBlocks(film: FilmPlan): BlockPlan[] {
  const { seconds, startMs = 0, audio = 'with' } = film
  const frames = frameBlocks(film)
  const audioTracks: BlockPlan[] = []
  const count = audio === 'with' ? Math.floor((seconds * 48_000) / 1024) : 0
  for (let i = 0; i < count; i += 1) {
    const time = startMs + Math.round((i * 1024_000) / 48_000)
    audioTracks.push({ track: 2, time, frames: [payload(2, i, 40 + (i % 7))] })
  }
  // In decode order, which for frames differs from presentation order.
  return [...frames, ...audioTracks.map((plan) => ({ plan, order: plan.time }))]
    .toSorted((one, other) => one.order - other.order)
    .map(({ plan }) => plan)
}

function frameBlocks(plan: FilmPlan): { plan: BlockPlan; order: number }[] {
  const { seconds, fps = 25, keyEveryMs = 2000, reordered = 0, startMs = 0 } = plan
  const { frameBytes = 300 } = plan
  const count = Math.floor(seconds * fps)
  const keyEvery = Math.max(1, Math.round((keyEveryMs / 1000) * fps))
  const order = decodeOrder(count, keyEvery, reordered)
  return order.map((shown, decoded) => {
    const isKey = shown % keyEvery === 0
    const time = startMs + Math.round((shown * 1000) / fps)
    const frames = [framePayload(isKey, shown, frameBytes + (shown % 11))]
    return { plan: { track: 1, time, isKey, frames }, order: startMs + (decoded * 1000) / fps }
  })
}

/** Frame numbers in decode order, closed at every key frame. */
function decodeOrder(count: number, keyEvery: number, reordered: 0 | 1 | 3): number[] {
  const order: number[] = []
  for (let key = 0; key < count; key += keyEvery) {
    const end = Math.min(count, key + keyEvery)
    order.push(key)
    for (let at = key + 1; at < end; at += reordered + 1) {
      const group = Array.from({ length: Math.min(reordered + 1, end - at) }, (_, i) => at + i)
      const last = group.pop()
      if (last !== undefined) order.push(last)
      const [first, middle, third] = group
      const pyramid = group.length === 3 ? [middle, first, third] : group
      order.push(...pyramid.filter((each) => each !== undefined))
    }
  }
  return order
}

/** A length-prefixed slice NAL unit. */
function framePayload(isKey: boolean, number: number, size: number): Buffer {
  const bytes = payload(1, number, size)
  bytes.writeUInt32BE(size - 4)
  bytes[4] = isKey ? 0x65 : 0x41
  return bytes
}

/** Bytes that differ from frame to frame. */
function payload(track: number, number: number, size: number): Buffer {
  const bytes = Buffer.alloc(size, 0x55)
  bytes.writeUInt32BE((track * 0x1000000 + number) >>> 0, Math.min(8, size - 4))
  return bytes
}

function idBytes(id: number): Buffer {
  return Buffer.from(id.toString(16).padStart(2, '0'), 'hex')
}

/** A size, or any variable-length number, in the fewest bytes or in `length`. */
export function sizeBytes(value: number, length?: number): Buffer {
  const needed = [1, 2, 3, 4, 5, 6, 7, 8].find((bytes) => value < 2 ** (7 * bytes) - 1) ?? 8
  const wanted = length ?? needed
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value) | (1n << BigInt(7 * wanted)))
  return bytes.subarray(8 - wanted)
}

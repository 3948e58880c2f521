// Opus in MPEG-TS (ETSI TS 103 491, registration 'Opus'): access units with control headers, and
// the configuration in the PMT.
import { opusPacketSamples } from '../../codec/audio-frame.ts'
import { splitDescriptors } from './stream-kind.ts'

/** An Opus packet inside a PES packet. */
interface OpusUnit {
  headerBytes: number
  /** Bytes of control header and packet. */
  bytes: number
  /** Samples per channel at 48 kHz. */
  samples: number
}

const EXTENSION_DESCRIPTOR = 0x7f
const OPUS_EXTENSION = 0x80
const MAX_CHANNELS = 8
const OPUS_RATE = 48_000
/** Streams, coupled streams and channel mapping by number of channels (RFC 7845 5.1.1.2). */
const LAYOUTS = [
  { streams: 1, coupled: 0, mapping: [0] },
  { streams: 1, coupled: 1, mapping: [0, 1] },
  { streams: 2, coupled: 1, mapping: [0, 2, 1] },
  { streams: 2, coupled: 2, mapping: [0, 1, 2, 3] },
  { streams: 3, coupled: 2, mapping: [0, 4, 1, 2, 3] },
  { streams: 4, coupled: 2, mapping: [0, 4, 1, 2, 3, 5] },
  { streams: 4, coupled: 3, mapping: [0, 4, 1, 2, 3, 5, 6] },
  { streams: 5, coupled: 3, mapping: [0, 6, 1, 2, 3, 4, 5, 7] },
] as const

/**
 * The identification header (`OpusHead`, RFC 7845 5.1) for the descriptors of a stream; undefined
 * for custom layouts.
 */
export function opusHead(descriptors: Uint8Array): Uint8Array | undefined {
  const channels = opusChannels(descriptors)
  const layout = LAYOUTS[channels - 1]
  if (channels > MAX_CHANNELS || layout === undefined) return undefined
  const family = channels > 2 ? 1 : 0
  const head = Buffer.alloc(19)
  head.write('OpusHead', 'latin1')
  head[8] = 1
  head[9] = channels
  head.writeUInt32LE(OPUS_RATE, 12)
  head[18] = family
  if (family === 0) return Uint8Array.from(head)
  return Uint8Array.of(...head, layout.streams, layout.coupled, ...layout.mapping)
}

function opusChannels(descriptors: Uint8Array): number {
  for (const { tag, body } of splitDescriptors(descriptors)) {
    if (tag === EXTENSION_DESCRIPTOR && body[0] === OPUS_EXTENSION) return body[1] ?? 2
  }
  return 2
}

/** The access unit with its control header at `at`; undefined if there is none. */
export function opusUnitAt(bytes: Uint8Array, at: number): OpusUnit | undefined {
  const second = bytes[at + 1] ?? 0
  if (bytes[at] !== 0x7f || (second & 0xe0) !== 0xe0) return undefined
  let end = at + 2
  let length = 0
  for (let byte = 255; byte === 255 && end < bytes.length; end++) {
    byte = bytes[end] ?? 0
    length += byte
  }
  const hasStartTrim = (second & 0x10) !== 0
  const hasEndTrim = (second & 0x08) !== 0
  end += (hasStartTrim ? 2 : 0) + (hasEndTrim ? 2 : 0)
  const hasExtension = (second & 0x04) !== 0
  if (hasExtension) end += 1 + (bytes[end] ?? 0)
  if (length === 0 || end >= bytes.length) return undefined
  const samples = opusPacketSamples(bytes[end] ?? 0, bytes[end + 1] ?? 0)
  if (samples === 0) return undefined
  return { headerBytes: end - at, bytes: end - at + length, samples }
}

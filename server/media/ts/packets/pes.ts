// PES packets (ISO/IEC 13818-1 2.4.3.6): their headers, and their 33-bit clock.
import { parseStamp } from '../../codec/pes-stamp.ts'
import { hasCounterBefore, payloadEnd, payloadStart } from './packet.ts'
import type { PacketView } from './packet.ts'
import { uint16 } from './table-section.ts'

/** Ticks per second of PTS and DTS. */
export const PES_TIMESCALE = 90_000
const CLOCK_PERIOD = 2 ** 33
/** The fixed part of the header, and the optional part, whose size is one byte. */
export const MAX_PES_HEADER_BYTES = 9 + 255

interface PesHeader {
  /** Start of the payload, from the first byte of the PES packet. */
  headerBytes: number
  /** Bytes of the whole PES packet; 0 if it ends at the start of the next one. */
  packetBytes: number
  stamps: PesStamps | undefined
}

/** Presentation and decode time, 33 bits of 90 kHz. `dts` equals `pts` without a DTS. */
export interface PesStamps {
  pts: number
  dts: number
}

/**
 * Parses the header at the start of `bytes`, of which `length` are valid: `short` if it needs more,
 * `invalid` if there is none.
 */
export function parsePesHeader(
  bytes: Uint8Array,
  length = bytes.length,
): PesHeader | 'short' | 'invalid' {
  if (length < 9) return 'short'
  if (bytes[0] !== 0 || bytes[1] !== 0 || bytes[2] !== 1) return 'invalid'
  if (((bytes[6] ?? 0) & 0xc0) !== 0x80) return 'invalid'
  const headerBytes = 9 + (bytes[8] ?? 0)
  if (length < headerBytes) return 'short'
  const size = uint16(bytes, 4)
  const packetBytes = size === 0 ? 0 : size + 6
  return { headerBytes, packetBytes, stamps: parseStamps(bytes, headerBytes) }
}

function parseStamps(bytes: Uint8Array, headerBytes: number): PesStamps | undefined {
  const flags = (bytes[7] ?? 0) >>> 6
  if ((flags & 2) === 0 || headerBytes < 14) return undefined
  const pts = parseStamp(bytes, 9)
  if (pts === undefined) return undefined
  const dts = flags === 3 && headerBytes >= 19 ? parseStamp(bytes, 14) : undefined
  return { pts, dts: dts ?? pts }
}

/** The time nearest to `reference` with these 33 low bits. */
export function unwrapStamp(stamp: number, reference: number): number {
  return stamp + Math.round((reference - stamp) / CLOCK_PERIOD) * CLOCK_PERIOD
}

/** The start of a PES packet, gathered from transport packets. */
export interface PesStart {
  bytes: Uint8Array
  length: number
  /** Position in the file of the transport packet in which it starts. */
  position: number
  header: PesHeader | undefined
}

export function createPesStart(limitBytes: number): PesStart {
  return { bytes: new Uint8Array(limitBytes), length: 0, position: 0, header: undefined }
}

/** Begins another PES packet with the transport packet in which it starts. */
export function openPesStart(start: PesStart, { position }: PacketView): void {
  start.length = 0
  start.header = undefined
  start.position = position
}

/**
 * Whether a packet repeats the one that was added last (ISO/IEC 13818-1 2.4.3.3): with the counter
 * of the packet before it, and its payload.
 */
export function isRepeated({ bytes, length }: PesStart, packet: PacketView): boolean {
  if (!hasCounterBefore(packet)) return false
  const payload = packet.bytes.subarray(payloadStart(packet), payloadEnd(packet))
  const last = bytes.subarray(Math.max(0, length - payload.length), length)
  return payload.length > 0 && Buffer.compare(payload, last) === 0
}

/**
 * Adds the payload of a packet, up to the limit. Returns `invalid` without a readable PES header.
 */
export function gatherPesStart(
  start: PesStart,
  packet: PacketView,
): 'header' | 'short' | 'invalid' {
  const from = payloadStart(packet)
  const taken = Math.min(payloadEnd(packet) - from, start.bytes.length - start.length)
  start.bytes.set(packet.bytes.subarray(from, from + taken), start.length)
  start.length += taken
  if (start.header !== undefined) return 'header'
  const header = parsePesHeader(start.bytes, start.length)
  if (typeof header === 'string') return header
  start.header = header
  return 'header'
}

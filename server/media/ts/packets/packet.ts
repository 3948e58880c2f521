// Transport stream packets (ISO/IEC 13818-1 2.4.3.2): their layout in a file, and their headers.
import { UnplayableError } from '../../../base/errors.ts'

export const SYNC_BYTE = 0x47
/** Bytes of a transport packet without the prefix of m2ts. */
export const TS_PACKET_BYTES = 188
export const MAX_PACKET_BYTES = 204
/** The time code before each packet of m2ts. */
const PREFIX_BYTES = 4
export const PID_COUNT = 8192
/** How far into a file the first packet may be. */
export const LAYOUT_SEARCH_BYTES = 1024 * 1024
/** Packets in a row that identify MPEG-TS; fewer in a shorter file, but at least three. */
const LAYOUT_PACKETS = 5
const MIN_LAYOUT_PACKETS = 3

/**
 * 192 with a 4-byte time code before (m2ts), 204 with 16 bytes of parity after (DVB, ETSI EN 300
 * 429).
 */
export type PacketBytes = 188 | 192 | 204

/** The layout of packets in a file. */
export interface PacketLayout {
  packetBytes: PacketBytes
  /** Position of the first packet (of its prefix, if it has one). */
  start: number
}

/** One packet within a buffer. The same object is reused for every packet. */
export interface PacketView {
  bytes: Uint8Array
  /** Index of the sync byte in `bytes`. */
  at: number
  /** Position of the packet in the file (of its prefix, if it has one). */
  position: number
  /** The four header bytes, big-endian. */
  header: number
  /** The last header byte of the previous packet of the PID, with its continuity counter. */
  counterBefore: number
}

/** Bytes before the sync byte. */
export function prefixBytes({ packetBytes }: { packetBytes: PacketBytes }): number {
  return packetBytes === 192 ? PREFIX_BYTES : 0
}

export function packetPid(header: number): number {
  return (header >>> 8) & 0x1fff
}

/** Whether a PES packet or a table section starts in the packet (payload_unit_start_indicator). */
export function isUnitStart(header: number): boolean {
  return (header & 0x400000) !== 0
}

/** Whether a receiver marked the packet as corrupt (transport_error_indicator). */
export function isCorrupt(header: number): boolean {
  return (header & 0x800000) !== 0
}

export function isScrambled(header: number): boolean {
  return (header & 0xc0) !== 0
}

export function hasPayload(header: number): boolean {
  return (header & 0x10) !== 0
}

export function continuityCounter(header: number): number {
  return header & 0x0f
}

/** Whether the counter did not increment: a packet may be sent twice (2.4.3.3). */
export function hasCounterBefore({ header, counterBefore }: PacketView): boolean {
  return continuityCounter(header) === continuityCounter(counterBefore)
}

/** Index in `bytes` of the payload; the end of the packet without one. */
export function payloadStart(packet: PacketView): number {
  const end = packet.at + TS_PACKET_BYTES
  if (!hasPayload(packet.header)) return end
  if ((packet.header & 0x20) === 0) return packet.at + 4
  const adaptationBytes = packet.bytes[packet.at + 4] ?? 0
  return Math.min(end, packet.at + 5 + adaptationBytes)
}

/** Index in `bytes` after the last byte of the packet. */
export function payloadEnd(packet: PacketView): number {
  return packet.at + TS_PACKET_BYTES
}

/**
 * Finds the packets in the first bytes of a file. Throws UnplayableError if it is not
 * MPEG-TS.
 */
export function findLayout(head: Uint8Array): PacketLayout {
  const searchEnd = Math.min(head.length, LAYOUT_SEARCH_BYTES)
  for (let at = head.indexOf(SYNC_BYTE); at >= 0 && at < searchEnd;) {
    if (isPacketRow(head, at, 188)) return { packetBytes: 188, start: at }
    if (isPacketRow(head, at, 192)) return m2tsLayout(head, at)
    if (isPacketRow(head, at, 204)) return { packetBytes: 204, start: at }
    at = head.indexOf(SYNC_BYTE, at + 1)
  }
  // Files without the signature of another container come here.
  const isZeros = head.every((byte) => byte === 0)
  throw new UnplayableError({ code: isZeros ? 'file-starts-with-zeros' : 'container-unknown' })
}

/**
 * A time code may contain bytes that look like sync for half a second; the last such byte is the
 * sync byte.
 */
function m2tsLayout(head: Uint8Array, firstRow: number): PacketLayout {
  let sync = firstRow
  for (let at = firstRow + 1; at <= firstRow + PREFIX_BYTES; at++) {
    if (isPacketRow(head, at, 192)) sync = at
  }
  return {
    packetBytes: 192,
    start: sync < PREFIX_BYTES ? sync + TS_PACKET_BYTES : sync - PREFIX_BYTES,
  }
}

function isPacketRow(bytes: Uint8Array, at: number, packetBytes: number): boolean {
  const fitting = Math.floor((bytes.length - at - TS_PACKET_BYTES) / packetBytes) + 1
  const wanted = Math.min(LAYOUT_PACKETS, fitting)
  if (wanted < MIN_LAYOUT_PACKETS) return false
  for (let i = 1; i < wanted; i++) {
    if (bytes[at + i * packetBytes] !== SYNC_BYTE) return false
  }
  return true
}

// Sections of program tables (ISO/IEC 13818-1 2.4.4): gathered from packets, validated, and packed
// again.
import { payloadEnd, payloadStart, isUnitStart, SYNC_BYTE, TS_PACKET_BYTES } from './packet.ts'
import type { PacketView } from './packet.ts'

/** PAT and PMT sections have at most 1021 bytes after their length field (2.4.4.5, 2.4.4.9). */
const MAX_SECTION_BYTES = 1024
const MIN_SECTION_BYTES = 12
const CRC_BYTES = 4

/** Gathers sections of one PID. */
export interface SectionGatherer {
  bytes: Uint8Array
  length: number
  isOpen: boolean
}

export function createSectionGatherer(): SectionGatherer {
  return { bytes: new Uint8Array(MAX_SECTION_BYTES), length: 0, isOpen: false }
}

/** Processes a packet of the PID; returns the valid sections that end in it. */
export function gatherSections(gatherer: SectionGatherer, packet: PacketView): Uint8Array[] {
  const { bytes } = packet
  const end = payloadEnd(packet)
  let at = payloadStart(packet)
  if (at >= end) return []
  const sections: Uint8Array[] = []
  if (!isUnitStart(packet.header)) {
    takeBytes(gatherer, bytes.subarray(at, end), sections)
    return sections
  }
  const pointed = at + 1 + (bytes[at] ?? 0)
  if (pointed >= end) return []
  takeBytes(gatherer, bytes.subarray(at + 1, pointed), sections)
  for (at = pointed; at < end && bytes[at] !== 0xff;) {
    gatherer.isOpen = true
    gatherer.length = 0
    at += takeBytes(gatherer, bytes.subarray(at, end), sections)
  }
  return sections
}

/** Appends bytes to the current section; returns how many. */
function takeBytes(gatherer: SectionGatherer, bytes: Uint8Array, sections: Uint8Array[]): number {
  if (!gatherer.isOpen) return 0
  const before = gatherer.length
  const taken = bytes.subarray(0, gatherer.bytes.length - before)
  gatherer.bytes.set(taken, before)
  gatherer.length += taken.length
  if (gatherer.length < 3) return taken.length
  const size = 3 + (uint16(gatherer.bytes, 1) & 0x0fff)
  if (size > gatherer.bytes.length || size < MIN_SECTION_BYTES) {
    gatherer.isOpen = false
    return bytes.length
  }
  if (gatherer.length < size) return taken.length
  gatherer.isOpen = false
  const section = gatherer.bytes.slice(0, size)
  if (crc32(section) === 0) sections.push(section)
  return size - before
}

/** CRC of a section (annex A); 0 over a section that includes its CRC. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte << 24
    for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1
  }
  return crc >>> 0
}

/** A long-form section (2.4.4.1) of version 0, the only one of its table. */
export function buildSection(tableId: number, idExtension: number, body: number[]): Uint8Array {
  const length = 5 + body.length + CRC_BYTES
  const head = [tableId, 0xb0 | (length >>> 8), length & 0xff]
  const section = Uint8Array.from([
    ...head,
    idExtension >>> 8,
    idExtension & 0xff,
    0xc1,
    0,
    0,
    ...body,
    // Room for the CRC.
    0,
    0,
    0,
    0,
  ])
  const crcAt = section.length - CRC_BYTES
  new DataView(section.buffer).setUint32(crcAt, crc32(section.subarray(0, crcAt)))
  return section
}

/** Number of packets of a section that starts one. */
export function countSectionPackets(section: Uint8Array): number {
  return Math.ceil((section.length + 1) / (TS_PACKET_BYTES - 4))
}

/** Packs a section into 188-byte packets; the last one has this continuity counter. */
export function packetizeSection(
  section: Uint8Array,
  pid: number,
  lastCounter: number,
): Uint8Array {
  const count = countSectionPackets(section)
  const packets = new Uint8Array(count * TS_PACKET_BYTES).fill(0xff)
  let taken = 0
  for (let i = 0; i < count; i++) {
    const at = i * TS_PACKET_BYTES
    const counter = (lastCounter - (count - 1 - i)) & 0x0f
    packets.set([SYNC_BYTE, (i === 0 ? 0x40 : 0) | (pid >>> 8), pid & 0xff, 0x10 | counter], at)
    const start = i === 0 ? 5 : 4
    if (i === 0) packets[at + 4] = 0
    const chunk = section.subarray(taken, taken + TS_PACKET_BYTES - start)
    packets.set(chunk, at + start)
    taken += chunk.length
  }
  return packets
}

/** Two bytes, big-endian; missing bytes read as 0. */
export function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}

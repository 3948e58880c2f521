// What is sent for one segment: its parts and their size. A plain value; how it is read and sent stands elsewhere.
import type { Part } from '../media/media-reader.ts'

export const M2TS_PACKET_BYTES = 192
const TS_PACKET_BYTES = 188

/** A segment before encryption. */
export interface SegmentBody {
  parts: readonly Part[]
  sizeBytes: number
}

/** A body of these parts. */
export function segmentBody(parts: readonly Part[]): SegmentBody {
  return { parts, sizeBytes: parts.reduce((sum, part) => sum + partBytes(part), 0) }
}

/** Bytes that a part gives when it is sent. */
export function partBytes(part: Part): number {
  if (part.kind === 'bytes') return part.bytes.length
  if (part.packing === 'm2ts') return (part.length / M2TS_PACKET_BYTES) * TS_PACKET_BYTES
  return part.length
}

/**
 * The body's bytes from `start` up to, not including, `end`. The answer may begin earlier than asked, by `skipBytes`,
 * where a part can only be read from its beginning.
 */
export function sliceBody(
  body: SegmentBody,
  { start, end }: { start: number; end: number },
): { body: SegmentBody; skipBytes: number } {
  if (start === 0 && end === body.sizeBytes) return { body, skipBytes: 0 }
  const parts: Part[] = []
  let skipBytes = 0
  let position = 0
  for (const part of body.parts) {
    const length = partBytes(part)
    const from = Math.max(start - position, 0)
    const to = Math.min(end - position, length)
    if (from < to) {
      const chunk = slicePart(part, from, to)
      if (parts.length === 0) skipBytes = chunk.skipBytes
      parts.push(chunk.part)
    }
    position += length
  }
  return { body: segmentBody(parts), skipBytes }
}

function slicePart(part: Part, from: number, to: number): { part: Part; skipBytes: number } {
  if (part.kind === 'bytes') {
    return { part: { kind: 'bytes', bytes: part.bytes.subarray(from, to) }, skipBytes: 0 }
  }
  if (part.packing === undefined) {
    return { part: { kind: 'range', offset: part.offset + from, length: to - from }, skipBytes: 0 }
  }
  // Whole packets: the reader drops what is before `from` and behind `to`.
  const firstPacket = Math.floor(from / TS_PACKET_BYTES)
  const packets = Math.ceil(to / TS_PACKET_BYTES) - firstPacket
  return {
    part: {
      kind: 'range',
      offset: part.offset + firstPacket * M2TS_PACKET_BYTES,
      length: packets * M2TS_PACKET_BYTES,
      packing: part.packing,
    },
    skipBytes: from - firstPacket * TS_PACKET_BYTES,
  }
}

/** Drops the four bytes in front of every packet, in place; answers the bytes that remain. */
export function unpackM2ts(bytes: Uint8Array): Uint8Array {
  const packets = Math.floor(bytes.length / M2TS_PACKET_BYTES)
  for (let i = 0; i < packets; i += 1) {
    const at = i * M2TS_PACKET_BYTES
    bytes.copyWithin(i * TS_PACKET_BYTES, at + 4, at + M2TS_PACKET_BYTES)
  }
  return bytes.subarray(0, packets * TS_PACKET_BYTES)
}

// The body of a segment as a plain value: its parts and their size.
import type { Part } from '../../media/media-reader.ts'

export const M2TS_PACKET_BYTES = 192
const TS_PACKET_BYTES = 188

/** A segment before encryption. */
export interface SegmentBody {
  parts: readonly Part[]
  sizeBytes: number
  /** False: another node, or this one later, may send other bytes for the same URL. */
  isLasting?: false
}

/** Bytes from `start` (included) to `end` (excluded). */
export interface ByteWindow {
  start: number
  end: number
}

/** A body of these parts. */
export function segmentBody(parts: readonly Part[]): SegmentBody {
  return { parts, sizeBytes: parts.reduce((sum, part) => sum + partBytes(part), 0) }
}

/** Bytes that a part has when it is sent. */
function partBytes(part: Part): number {
  if (part.kind === 'bytes') return part.bytes.length
  if (part.packing === 'm2ts') return (part.length / M2TS_PACKET_BYTES) * TS_PACKET_BYTES
  return part.length
}

/**
 * The bytes of the window as a body. The body starts `skipBytes` too early if its first part can
 * only be read from a packet boundary.
 */
export function sliceBody(
  body: SegmentBody,
  { start, end }: ByteWindow,
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
      const slice = slicePart(part, from, to)
      if (parts.length === 0) skipBytes = slice.skipBytes
      parts.push(slice.part)
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
  // Whole packets: the caller drops the bytes before `from` and after `to`.
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

/** Drops the four-byte prefix of every packet, in place; returns the bytes that remain. */
export function unpackM2ts(bytes: Uint8Array): Uint8Array {
  const packets = Math.floor(bytes.length / M2TS_PACKET_BYTES)
  for (let i = 0; i < packets; i += 1) {
    const at = i * M2TS_PACKET_BYTES
    bytes.copyWithin(i * TS_PACKET_BYTES, at + 4, at + M2TS_PACKET_BYTES)
  }
  return bytes.subarray(0, packets * TS_PACKET_BYTES)
}

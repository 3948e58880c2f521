// Splits an MPEG-TS recording as a recorder of segments does, but at any packet.

const PACKET_BYTES = 188

/** `count` parts of whole packets, as many in each but the last. */
export function splitPackets(bytes: Buffer, count: number): Buffer[] {
  const partBytes = Math.ceil(bytes.length / PACKET_BYTES / count) * PACKET_BYTES
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * partBytes, (i + 1) * partBytes))
}

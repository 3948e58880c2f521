// Makes copies of an MPEG-TS recording whose bytes differ.

const PACKET_BYTES = 188
/** Header of a null packet, which every reader skips (ISO/IEC 13818-1 2.4.3.3). */
const NULL_PACKET = [0x47, 0x1f, 0xff, 0x10]

/** The recording with the number in a packet at its end. */
export function makeNumberedTs(recording: Uint8Array, number: number): Buffer {
  const packet = Buffer.alloc(PACKET_BYTES, 0xff)
  packet.set(NULL_PACKET)
  packet.writeUInt32BE(number, NULL_PACKET.length)
  return Buffer.concat([recording, packet])
}

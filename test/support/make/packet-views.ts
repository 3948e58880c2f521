// Packets of MPEG-TS as a walk visits them, one after the other in a file.
import type { PacketView } from '../../../server/media/ts/packets/packet.ts'

const PACKET_BYTES = 188

/** `counterBefore`: the continuity counter of each PID before its first packet. */
export function packetViews(bytes: Uint8Array, counterBefore = 0xff): PacketView[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const counters = new Map<number, number>()
  return Array.from({ length: bytes.length / PACKET_BYTES }, (_, i) => {
    const at = i * PACKET_BYTES
    const header = view.getUint32(at)
    const pid = (header >>> 8) & 0x1fff
    const before = counters.get(pid) ?? counterBefore
    counters.set(pid, header & 0xff)
    return { bytes, at, position: at, header, counterBefore: before }
  })
}

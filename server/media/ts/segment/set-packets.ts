// Parameter sets before the key frame of a segment, as packets, for recordings that do not repeat
// them.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { START_CODE } from '../../codec/nal-unit.ts'
import type { BytesPart } from '../../media-reader.ts'
import {
  continuityCounter,
  isUnitStart,
  PID_COUNT,
  SYNC_BYTE,
  TS_PACKET_BYTES,
} from '../packets/packet.ts'
import type { PacketBytes, PacketView } from '../packets/packet.ts'
import { ALL, SMALL_CHUNK_BYTES, walkPackets } from '../packets/packet-walk.ts'
import { createPesStart, gatherPesStart, MAX_PES_HEADER_BYTES } from '../packets/pes.ts'

const PAYLOAD_BYTES = TS_PACKET_BYTES - 4
/** Continuity counters have four bits: after this many packets those of the recording follow. */
const COUNTER_PERIOD = 16

export interface SetPackets {
  pid: number
  sets: readonly Uint8Array[]
  packetBytes: PacketBytes
  /** Positions between which the key frame starts. */
  from: number
  to: number
}

/**
 * A PES packet with the sets and the times of the key frame, which belongs to the same access unit
 * (ISO/IEC 13818-1 2.14.1); undefined if no frame starts in the range.
 */
export async function readSetPackets(
  file: OpenFile,
  { pid, sets, packetBytes, from, to }: SetPackets,
): Promise<BytesPart | undefined> {
  const interest = new Uint8Array(PID_COUNT)
  interest[pid] = ALL
  const start = createPesStart(MAX_PES_HEADER_BYTES)
  let counter: number | undefined
  function visit(packet: PacketView): 'continue' | 'stop' {
    if (counter === undefined && !isUnitStart(packet.header)) return 'continue'
    counter ??= continuityCounter(packet.header)
    return gatherPesStart(start, packet) === 'short' ? 'continue' : 'stop'
  }
  const tsFile = { file, layout: { packetBytes, start: from } }
  await walkPackets(tsFile, { interest, visit }, { from, to, chunkBytes: SMALL_CHUNK_BYTES })
  if (counter === undefined || start.header === undefined) return undefined
  const header = Buffer.from(start.bytes.subarray(0, start.header.headerBytes))
  const pes = Buffer.concat([header, ...sets.flatMap((set) => [START_CODE, set])])
  pes.writeUInt16BE(pes.length - 6, 4)
  return { kind: 'bytes', bytes: packetize(pes, pid, counter) }
}

function packetize(pes: Uint8Array, pid: number, firstCounter: number): Uint8Array {
  const count = COUNTER_PERIOD * Math.ceil(pes.length / (COUNTER_PERIOD * PAYLOAD_BYTES))
  const packets = new Uint8Array(count * TS_PACKET_BYTES).fill(0xff)
  let taken = 0
  for (let i = 0; i < count; i += 1) {
    const at = i * TS_PACKET_BYTES
    const length = Math.ceil((pes.length - taken) / (count - i))
    const stuffing = PAYLOAD_BYTES - length
    const control = (stuffing > 0 ? 0x30 : 0x10) | ((firstCounter + i) & 0x0f)
    packets.set([SYNC_BYTE, (i === 0 ? 0x40 : 0) | (pid >>> 8), pid & 0xff, control], at)
    // An adaptation field of stuffing (2.4.3.5).
    if (stuffing > 0) packets[at + 4] = stuffing - 1
    if (stuffing > 1) packets[at + 5] = 0
    packets.set(pes.subarray(taken, taken + length), at + TS_PACKET_BYTES - length)
    taken += length
  }
  return packets
}

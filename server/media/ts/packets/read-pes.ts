// Reads one whole PES packet from a file.
import { hasCounterBefore, isScrambled, isUnitStart, payloadEnd } from './packet.ts'
import { payloadStart, PID_COUNT } from './packet.ts'
import type { PacketView } from './packet.ts'
import { ALL, SMALL_CHUNK_BYTES, walkPackets } from './packet-walk.ts'
import type { TsFile } from './packet-walk.ts'
import { parsePesHeader } from './pes.ts'

interface PesWanted {
  pid: number
  /** Positions between which the PES packet starts, and after which no byte of it is read. */
  from: number
  to: number
  /** At most this many bytes are read. */
  limitBytes: number
  /** As for an ElementaryStream. */
  exceedsLengths?: boolean
}

/**
 * Payload of the first PES packet of the PID that starts in the range; undefined if there is none.
 */
export async function readPesPayload(
  tsFile: TsFile,
  wanted: PesWanted,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  let wantedLength = wanted.limitBytes
  const interest = new Uint8Array(PID_COUNT)
  interest[wanted.pid] = ALL

  function visit(packet: PacketView): 'continue' | 'stop' {
    const isStart = isUnitStart(packet.header)
    const payload = packet.bytes.slice(payloadStart(packet), payloadEnd(packet))
    const last = chunks.at(-1)
    if (last && hasCounterBefore(packet) && Buffer.compare(payload, last) === 0) return 'continue'
    if (length > 0 && isStart) return 'stop'
    if ((length === 0 && !isStart) || isScrambled(packet.header)) return 'continue'
    chunks.push(payload)
    length += payload.length
    if (chunks.length === 1 && wanted.exceedsLengths !== true) {
      wantedLength = Math.min(wantedLength, pesBytes(payload))
    }
    return length >= wantedLength ? 'stop' : 'continue'
  }

  const { from, to } = wanted
  const range = { from, to, chunkBytes: SMALL_CHUNK_BYTES, end: 'open' as const }
  await walkPackets(tsFile, { interest, visit }, range)
  const pes = joinChunks(chunks, Math.min(length, wantedLength))
  const header = parsePesHeader(pes)
  return typeof header === 'string' ? undefined : pes.subarray(header.headerBytes)
}

function pesBytes(start: Uint8Array): number {
  const header = parsePesHeader(start)
  return typeof header === 'string' || header.packetBytes === 0 ? Infinity : header.packetBytes
}

function joinChunks(chunks: Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    joined.set(chunk.subarray(0, length - at), at)
    at = Math.min(length, at + chunk.length)
  }
  return joined
}

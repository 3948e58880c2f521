// The header of Enhanced RTMP (v1 and v2): a four-character codec, and one or several tracks per
// tag.
import { MAX_MOD_EX } from './flv-limits.ts'
import { fourCc, uint24 } from './tag-bytes.ts'

/** The packet of one track. */
export interface ExtendedPacket {
  codec: string
  packetType: number
  trackId: number
  /** Start and end of its data in the body. */
  from: number
  to: number
}

/** The body of a tag, of which `body` has the first bytes. */
export interface TagBody {
  body: Uint8Array
  bodyBytes: number
}

export const SEQUENCE_START = 0
export const CODED_FRAMES = 1
export const CODED_FRAMES_X = 3
const MOD_EX = 7
const MANY_CODECS = 2

/**
 * The packets of an extended tag; empty if its header is invalid. `multitrack` is the packet type
 * that announces tracks: 6 for video, 5 for audio.
 */
export function parseExtended({ body, bodyBytes }: TagBody, multitrack: 5 | 6): ExtendedPacket[] {
  let packetType = (body[0] ?? 0) & 0x0f
  let at = 1
  for (let count = 0; packetType === MOD_EX; count += 1) {
    if (count === MAX_MOD_EX) return []
    const short = (body[at] ?? 0) + 1
    const size = short === 256 ? (((body[at + 1] ?? 0) << 8) | (body[at + 2] ?? 0)) + 1 : short
    at += size + (short === 256 ? 3 : 1)
    packetType = (body[at] ?? MOD_EX) & 0x0f
    at += 1
  }
  if (packetType === multitrack) return parseTracks({ body, bodyBytes }, at)
  const packet = { codec: fourCc(body, at), packetType, trackId: 0, from: at + 4, to: bodyBytes }
  return packet.from <= bodyBytes ? [packet] : []
}

/** Tracks within the bytes of `body`. */
function parseTracks({ body, bodyBytes }: TagBody, start: number): ExtendedPacket[] {
  const form = (body[start] ?? 0) >> 4
  const packetType = (body[start] ?? 0) & 0x0f
  const shared = form === MANY_CODECS ? undefined : fourCc(body, start + 1)
  const packets: ExtendedPacket[] = []
  let at = start + (shared === undefined ? 1 : 5)
  while (at < body.length) {
    const codec = shared ?? fourCc(body, at)
    if (shared === undefined) at += 4
    const trackId = body[at] ?? 0
    const isAlone = form === 0
    const from = at + (isAlone ? 1 : 4)
    const to = isAlone ? bodyBytes : from + uint24(body, at + 1)
    if (from > to || to > bodyBytes) break
    packets.push({ codec, packetType, trackId, from, to })
    at = to
  }
  return packets
}

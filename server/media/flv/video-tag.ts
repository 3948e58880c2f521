// The body of a video tag (Adobe FLV 10.1 annex E.4.3, Enhanced RTMP).
import { unplayableVideoIn } from '../codec/unplayable-video.ts'
import { videoCodecsIn } from '../codec/video-codecs.ts'
import type { SampledVideoCodec } from '../codec/video-codecs.ts'
import { CODED_FRAMES, CODED_FRAMES_X, parseExtended, SEQUENCE_START } from './extended-header.ts'
import type { ExtendedPacket, TagBody } from './extended-header.ts'
import { MAX_COMPOSITION_MS } from './flv-limits.ts'
import { int24 } from './tag-bytes.ts'

/** The packet of one track. `from` and `to` are positions in the body. */
export type VideoBody =
  | { kind: 'set-up'; codec: SampledVideoCodec; trackId: number; config: Uint8Array }
  | {
      kind: 'frame'
      codec: SampledVideoCodec
      trackId: number
      isKey: boolean
      compositionMs: number
      from: number
      to: number
    }
  | { kind: 'other'; name: string }

const CODECS = videoCodecsIn('flv')
const OTHER_NAMES = unplayableVideoIn('flv')

const KEY_FRAME = 1
const COMMAND = 5
const LEGACY_HEADER_BYTES = 5
const COMPOSITION_BYTES = 3

/** Packets of the tag, one per track; empty if none is needed. */
export function parseVideoBody(tag: TagBody): VideoBody[] {
  const first = tag.body[0]
  if (first === undefined) return []
  const frameType = (first >> 4) & 7
  if (frameType === COMMAND) return []
  const isKey = frameType === KEY_FRAME
  if ((first & 0x80) === 0) return parseLegacy(tag, first & 0x0f, isKey)
  return parseExtended(tag, 6).flatMap((packet) => parsePacket(tag, packet, isKey))
}

function parseLegacy({ body, bodyBytes }: TagBody, codecId: number, isKey: boolean): VideoBody[] {
  const codec = CODECS.get(codecId)
  if (codec === undefined) {
    return [{ kind: 'other', name: OTHER_NAMES.get(codecId) ?? `codec ${codecId} of FLV` }]
  }
  const from = LEGACY_HEADER_BYTES
  if (body[1] === SEQUENCE_START) {
    return [{ kind: 'set-up', codec, trackId: 0, config: body.subarray(from, bodyBytes) }]
  }
  if (body[1] !== CODED_FRAMES || bodyBytes <= from) return []
  const compositionMs = believableComposition(int24(body, 2))
  return [{ kind: 'frame', codec, trackId: 0, isKey, compositionMs, from, to: bodyBytes }]
}

function parsePacket({ body }: TagBody, packet: ExtendedPacket, isKey: boolean): VideoBody[] {
  const { packetType, trackId, from, to } = packet
  const codec = CODECS.get(packet.codec)
  if (codec === undefined) {
    const name = OTHER_NAMES.get(packet.codec) ?? `of the kind '${packet.codec}'`
    return [{ kind: 'other', name }]
  }
  if (packetType === SEQUENCE_START) {
    return [{ kind: 'set-up', codec, trackId, config: body.subarray(from, to) }]
  }
  const hasOffset = packetType === CODED_FRAMES && (codec === 'h264' || codec === 'hevc')
  const start = from + (hasOffset ? COMPOSITION_BYTES : 0)
  const isFrame = packetType === CODED_FRAMES || packetType === CODED_FRAMES_X
  if (!isFrame || to <= start) return []
  const compositionMs = hasOffset ? believableComposition(int24(body, from)) : 0
  return [{ kind: 'frame', codec, trackId, isKey, compositionMs, from: start, to }]
}

function believableComposition(ms: number): number {
  return Math.abs(ms) <= MAX_COMPOSITION_MS ? ms : 0
}

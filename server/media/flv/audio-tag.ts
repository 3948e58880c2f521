// The body of an audio tag (Adobe FLV 10.1 annex E.4.2, Enhanced RTMP).
import { CODED_FRAMES, parseExtended, SEQUENCE_START } from './extended-header.ts'
import type { ExtendedPacket, TagBody } from './extended-header.ts'
import { audioCodecsIn, isPlayedAudio } from '../codec/audio-codecs.ts'
import type { AudioCodec, PlayedAudio } from '../codec/audio-codecs.ts'

/**
 * The packet of one track. `from` and `to` are positions in the body. Audio that browsers play has
 * a configuration before its frames; the frames or tags of other audio define it.
 */
export type AudioBody =
  | { kind: 'set-up'; codec: PlayedAudio; trackId: number; config: Uint8Array }
  | {
      kind: 'frame'
      codec: AudioCodec
      trackId: number
      from: number
      to: number
      /** The format in the tag, for audio without a header of its own. */
      sampleRate: number
      channels: number
    }
  | { kind: 'other'; name: string }

const EXTENDED_FORMAT = 9
const CODECS = audioCodecsIn('flv')
const RATES = [5512, 11_025, 22_050, 44_100]
const G711_RATE = 8000

/** Packets of the tag, one per track; empty if none is needed. */
export function parseAudioBody(tag: TagBody): AudioBody[] {
  const first = tag.body[0]
  if (first === undefined) return []
  const format = first >> 4
  if (format === EXTENDED_FORMAT) {
    return parseExtended(tag, 5).flatMap((packet) => parsePacket(tag, packet))
  }
  const named = CODECS.get(format)
  if (named?.codec === undefined) {
    return [{ kind: 'other', name: named?.name ?? `format ${format} of FLV` }]
  }
  if (named.codec === 'aac') return parseAac(tag)
  const isWide = (first & 2) !== 0
  const codec = named.codec === 'pcm_s16le' && !isWide ? 'pcm_u8' : named.codec
  const isG711 = codec === 'pcm_alaw' || codec === 'pcm_mulaw'
  const sampleRate = isG711 ? G711_RATE : (RATES[(first >> 2) & 3] ?? 0)
  const channels = (first & 1) + 1
  return frame(codec, { trackId: 0, from: 1, to: tag.bodyBytes }, { sampleRate, channels })
}

function parseAac({ body, bodyBytes }: TagBody): AudioBody[] {
  if (body[1] === 0) {
    return [{ kind: 'set-up', codec: 'aac', trackId: 0, config: body.subarray(2, bodyBytes) }]
  }
  return body[1] === 1 ? frame('aac', { trackId: 0, from: 2, to: bodyBytes }) : []
}

function parsePacket({ body }: TagBody, packet: ExtendedPacket): AudioBody[] {
  const codec = CODECS.get(packet.codec)?.codec
  if (codec === undefined) return [{ kind: 'other', name: `of the kind '${packet.codec}'` }]
  const { packetType, trackId, from, to } = packet
  if (packetType === CODED_FRAMES) return frame(codec, packet)
  if (packetType !== SEQUENCE_START || !isPlayedAudio(codec)) return []
  return [{ kind: 'set-up', codec, trackId, config: body.subarray(from, to) }]
}

function frame(
  codec: AudioCodec,
  { trackId, from, to }: { trackId: number; from: number; to: number },
  format = { sampleRate: 0, channels: 0 },
): AudioBody[] {
  const { sampleRate, channels } = format
  return to > from ? [{ kind: 'frame', codec, trackId, from, to, sampleRate, channels }] : []
}

// The body of an audio tag (Adobe FLV 10.1 annex E.4.2, Enhanced RTMP).
import { CODED_FRAMES, parseExtended, SEQUENCE_START } from './extended-header.ts'
import type { ExtendedPacket, TagBody } from './extended-header.ts'
import type { PlainAudio } from './flv-source.ts'

/** Audio that needs a configuration before its frames. */
export type ConfiguredAudio = 'aac' | 'opus' | 'flac'

/** The packet of one track. `from` and `to` are positions in the body. */
export type AudioBody =
  | { kind: 'set-up'; codec: ConfiguredAudio; trackId: number; config: Uint8Array }
  | {
      kind: 'frame'
      codec: ConfiguredAudio | PlainAudio
      trackId: number
      from: number
      to: number
      /** The format in the tag, for audio without a header of its own. */
      sampleRate: number
      channels: number
    }
  | { kind: 'other'; name: string }

const EXTENDED_FORMAT = 9
const AAC_FORMAT = 10
const RATES = [5512, 11_025, 22_050, 44_100]
const G711_RATE = 8000
const OTHER_NAMES = new Map([
  [1, 'ADPCM'],
  [4, 'Nellymoser'],
  [5, 'Nellymoser'],
  [6, 'Nellymoser'],
  [11, 'Speex'],
])
const EXTENDED = new Map<string, ConfiguredAudio | PlainAudio>([
  ['mp4a', 'aac'],
  ['Opus', 'opus'],
  ['fLaC', 'flac'],
  ['.mp3', 'mp3'],
  ['ac-3', 'ac3'],
  ['ec-3', 'eac3'],
])

/** Packets of the tag, one per track; empty if none is needed. */
export function parseAudioBody(tag: TagBody): AudioBody[] {
  const first = tag.body[0]
  if (first === undefined) return []
  const format = first >> 4
  if (format === EXTENDED_FORMAT) {
    return parseExtended(tag, 5).flatMap((packet) => parsePacket(tag, packet))
  }
  if (format === AAC_FORMAT) return parseAac(tag)
  const codec = plainCodec(format, (first & 2) !== 0)
  if (codec === undefined) {
    return [{ kind: 'other', name: OTHER_NAMES.get(format) ?? `format ${format} of FLV` }]
  }
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
  const codec = EXTENDED.get(packet.codec)
  if (codec === undefined) return [{ kind: 'other', name: `of the kind '${packet.codec}'` }]
  const { packetType, trackId, from, to } = packet
  if (packetType === CODED_FRAMES) return frame(codec, packet)
  const hasConfig = codec === 'aac' || codec === 'opus' || codec === 'flac'
  if (packetType !== SEQUENCE_START || !hasConfig) return []
  return [{ kind: 'set-up', codec, trackId, config: body.subarray(from, to) }]
}

function frame(
  codec: ConfiguredAudio | PlainAudio,
  { trackId, from, to }: { trackId: number; from: number; to: number },
  format = { sampleRate: 0, channels: 0 },
): AudioBody[] {
  const { sampleRate, channels } = format
  return to > from ? [{ kind: 'frame', codec, trackId, from, to, sampleRate, channels }] : []
}

function plainCodec(format: number, isWide: boolean): PlainAudio | undefined {
  if (format === 2 || format === 14) return 'mp3'
  if (format === 0 || format === 3) return isWide ? 'pcm_s16le' : 'pcm_u8'
  if (format === 7) return 'pcm_alaw'
  return format === 8 ? 'pcm_mulaw' : undefined
}

// Video sample entries (ISO/IEC 14496-12 12.1.3): codec string, decoder parameters, and a sanitised
// box.
import type { VideoTrack } from '../../media-index.ts'
import { recordedSets } from '../../codec/parameter-sets.ts'
import { parseEsds } from '../../codec/esds.ts'
import { av1Codec, avcCodec, hevcCodec, vp9Codec } from '../../codec/codec-string.ts'
import {
  type Description,
  type RawEntry,
  copyBytes,
  entryContent,
  joinEntry,
  splitEntry,
  wholeBox,
} from './entry-parts.ts'
import type { Mp4Decoder } from '../mp4-source.ts'
import { videoCodecName } from './unplayable-codecs.ts'

/** A video sample entry that browsers play. */
export interface VideoDescription extends Pick<
  VideoTrack,
  'codec' | 'codecName' | 'width' | 'height'
> {
  /** Sample entry box for an init segment, sanitised. */
  sampleEntry: Uint8Array
  decoder: Mp4Decoder
}

interface VideoCodec {
  codecName: string
  decoder: Mp4Decoder['codec']
  /** Type of the box with the decoder configuration. */
  configType: string
  /** Four-character code in the init segment. */
  entryType: string
  /** Codec string; undefined if the configuration is corrupt. */
  format: (config: DataView, entryType: string) => string | undefined
}

const AVC = { codecName: 'H.264', decoder: 'h264', configType: 'avcC', format: avcCodec } as const
const HEVC = { codecName: 'HEVC', decoder: 'hevc', configType: 'hvcC', format: hevcCodec } as const
const AV1 = { codecName: 'AV1', decoder: 'av1', configType: 'av1C', format: av1Codec } as const
const VP9 = { codecName: 'VP9', decoder: 'vp9', configType: 'vpcC', format: vp9Codec } as const

/**
 * HEVC is always `hvc1`, because Apple does not play `hev1`. `avc3` stays, as its parameter sets
 * are in the samples.
 */
const CODECS = new Map<string, VideoCodec>([
  ['avc1', { ...AVC, entryType: 'avc1' }],
  ['avc3', { ...AVC, entryType: 'avc3' }],
  ['hvc1', { ...HEVC, entryType: 'hvc1' }],
  ['hev1', { ...HEVC, entryType: 'hvc1' }],
  ['av01', { ...AV1, entryType: 'av01' }],
  ['vp09', { ...VP9, entryType: 'vp09' }],
])

/** Entries whose samples may contain parameter sets (ISO/IEC 14496-15 5.4.2.1, 8.4.1). */
const IN_BAND: ReadonlySet<string> = new Set(['avc3', 'hev1'])

const FIELD_BYTES = 78
const WIDTH_AT = 24
const HEIGHT_AT = 26

/**
 * Parses a video sample entry. A codec that no browser plays is `unplayable`; a corrupt box throws.
 */
export function parseVideoEntry(entry: RawEntry): Description<VideoDescription> {
  const codec = CODECS.get(entry.box.type)
  if (codec === undefined) return unplayableVideo(entry)
  const { fields, boxes } = splitEntry(entry, FIELD_BYTES)
  const configBox = boxes.find((box) => box.type === codec.configType)
  const config = configBox && entryContent(entry, configBox)
  const text = config && codec.format(config, codec.entryType)
  if (config === undefined || text === undefined) {
    const { codecName, configType: box } = codec
    const reason = { code: 'video-config-missing', codec: codecName, box } as const
    return { status: 'unplayable', reason, isStillImage: false }
  }
  const whole = boxes.map((box) => wholeBox(entry, box))
  return {
    status: 'playable',
    codec: text,
    codecName: codec.codecName,
    width: fields.getUint16(WIDTH_AT),
    height: fields.getUint16(HEIGHT_AT),
    sampleEntry: joinEntry(codec.entryType, fields, whole),
    decoder: describeDecoder(entry.box.type, codec.decoder, copyBytes(config)),
  }
}

function describeDecoder(
  entryType: string,
  codec: Mp4Decoder['codec'],
  extradata: Uint8Array,
): Mp4Decoder {
  if (codec === 'vp9') return { codec }
  const setsInBand = IN_BAND.has(entryType) || recordedSets(codec, extradata).sets.length === 0
  return { codec, extradata, ...(setsInBand && { setsInBand }) }
}

function unplayableVideo(entry: RawEntry): Description<VideoDescription> {
  const { type } = entry.box
  const isStillImage = type === 'jpeg' || type === 'png '
  if (type === 'encv' || type === 'drmi') {
    return { status: 'unplayable', reason: { code: 'video-encrypted' }, isStillImage }
  }
  const name = videoCodecName(type, objectTypeOf(entry))
  const reason = { code: 'video-codec-unsupported', codec: name } as const
  return { status: 'unplayable', reason, isStillImage }
}

/** Object type in the esds box of an `mp4v` entry. */
function objectTypeOf(entry: RawEntry): number | undefined {
  if (entry.box.type !== 'mp4v') return undefined
  const esds = splitEntry(entry, FIELD_BYTES).boxes.find((box) => box.type === 'esds')
  return esds && parseEsds(entryContent(entry, esds))?.objectType
}

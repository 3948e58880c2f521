// Video sample entries (ISO/IEC 14496-12 12.1.3): codec string, decoder parameters, and a sanitised
// box.
import type { VideoTrack } from '../../media-index.ts'
import { recordedSets } from '../../codec/parameter-sets.ts'
import { parseEsds } from '../../codec/audio-specific-config.ts'
import { VIDEO_FORMATS, videoCodecsIn } from '../../codec/video-codecs.ts'
import {
  copyBytes,
  entryContent,
  joinEntry,
  splitEntry,
  type Description,
  type RawEntry,
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

const CODECS = videoCodecsIn('mp4')

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
  const { codecName, box, entries, format } = VIDEO_FORMATS[codec]
  const entryType = entries[entry.box.type] ?? entry.box.type
  const { fields, boxes } = splitEntry(entry, FIELD_BYTES)
  const configBox = boxes.find(({ type }) => type === box)
  const config = configBox && entryContent(entry, configBox)
  const text = config && format(config, entryType)
  if (config === undefined || text === undefined) {
    const reason = { code: 'video-config-missing', codec: codecName, box } as const
    return { status: 'unplayable', reason, isStillImage: false }
  }
  const whole = boxes.map((each) => wholeBox(entry, each))
  return {
    status: 'playable',
    codec: text,
    codecName,
    width: fields.getUint16(WIDTH_AT),
    height: fields.getUint16(HEIGHT_AT),
    sampleEntry: joinEntry(entryType, fields, whole),
    decoder: describeDecoder(entry.box.type, codec, copyBytes(config)),
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

// Audio sample entries (ISO/IEC 14496-12 12.2.3, and QuickTime's versions 1 and 2).
import type { AudioTrack } from '../../media-index.ts'
import { AUDIO_CODECS, audioCodecsIn } from '../../codec/audio-codecs.ts'
import { parseAudioConfig, parseEsds } from '../../codec/audio-specific-config.ts'
import { parseBoxes, type Box } from '../boxes/box.ts'
import { UnplayableError } from '../../../base/errors.ts'
import {
  entryContent,
  joinEntry,
  splitEntry,
  type Description,
  type EntryParts,
  type RawEntry,
  wholeBox,
} from './entry-parts.ts'
import { opusConfigFromBox } from '../../codec/sample-entry.ts'
import { parseTranscodedEntry, type AudioFields } from './transcoded-entry.ts'

/** A sample entry of audio that browsers play in fMP4, or that is transcoded. */
export interface AudioDescription extends Omit<AudioTrack, 'kind' | 'language' | 'name'> {
  /** Sample entry box for an init segment, sanitised; absent for audio that is transcoded. */
  sampleEntry?: Uint8Array
  /** For PCM: bytes of one sample of all channels. */
  pcmFrameBytes?: number
}

const CODECS = audioCodecsIn('mp4')
const FIELD_BYTES = 28
const VERSION_AT = 8
const CHANNELS_AT = 16
/**
 * Further fields of QuickTime's entry versions 0, 1 and 2 (QuickTime File Format, sample
 * descriptions).
 */
const QUICKTIME_BYTES = [0, 16, 36] as const

/**
 * Parses an audio sample entry. A codec that is neither played in fMP4 nor transcoded is
 * `unplayable`, and so is a corrupt entry: a recording without audio is better than none.
 */
export function parseAudioEntry(entry: RawEntry): Description<AudioDescription> {
  try {
    const found = parseByType(entry)
    if (found !== undefined) return { status: 'playable', ...found }
  } catch (error) {
    if (!(error instanceof UnplayableError) && !(error instanceof RangeError)) throw error
  }
  const reason = { code: 'audio-codec-unsupported', codec: entry.box.type } as const
  return { status: 'unplayable', reason, isStillImage: false }
}

function parseByType(entry: RawEntry): AudioDescription | undefined {
  const { type } = entry.box
  const codec = CODECS.get(type)?.codec
  if (codec === 'aac') return parseMp4a(entry)
  if (codec === 'opus') return parseOpus(entry)
  if (codec === 'flac') return parseFlac(entry)
  return parseTranscodedEntry(type, () => audioFields(entry))
}

function parseMp4a(entry: RawEntry): AudioDescription | undefined {
  const { fields, boxes } = splitAudioEntry(entry)
  const esdsBox = findEsds(entry, boxes)
  if (esdsBox === undefined) return undefined
  const esds = parseEsds(entryContent(entry, esdsBox))
  const config = esds && parseAudioConfig(esds)
  if (esds !== undefined && config === undefined) {
    const { objectType } = esds
    return parseTranscodedEntry(`mp4a.${objectType.toString(16)}`, () => audioFields(entry))
  }
  if (config === undefined) return undefined
  const channels = config.channels ?? fields.getUint16(CHANNELS_AT)
  const isClean = fields.getUint16(VERSION_AT) === 0 && boxes.includes(esdsBox)
  const sampleEntry = isClean
    ? joinEntry(
        'mp4a',
        fields,
        boxes.map((box) => wholeBox(entry, box)),
      )
    : joinEntry('mp4a', plainFields(channels, config.coreRate), [wholeBox(entry, esdsBox)])
  const { codec, sampleRate } = config
  return { codec, codecName: AUDIO_CODECS.aac.name, channels, sampleRate, sampleEntry }
}

function parseOpus(entry: RawEntry): AudioDescription | undefined {
  const dOps = splitAudioEntry(entry).boxes.find((box) => box.type === 'dOps')
  if (dOps === undefined) return undefined
  const { buffer, byteOffset, byteLength } = entryContent(entry, dOps)
  return opusConfigFromBox(new Uint8Array(buffer, byteOffset, byteLength))
}

/** FLAC in ISOBMFF 3.3.2: a full box whose first metadata block is STREAMINFO. */
function parseFlac(entry: RawEntry): AudioDescription | undefined {
  const { fields, boxes } = splitAudioEntry(entry)
  const dfLa = boxes.find((box) => box.type === 'dfLa')
  if (dfLa === undefined) return undefined
  const rateAndChannels = entryContent(entry, dfLa).getUint32(18)
  const sampleRate = rateAndChannels >>> 12
  const channels = ((rateAndChannels >>> 9) & 7) + 1
  const sampleEntry = joinEntry(
    'fLaC',
    fields,
    boxes.map((box) => wholeBox(entry, box)),
  )
  return { codec: 'flac', codecName: AUDIO_CODECS.flac.name, channels, sampleRate, sampleEntry }
}

/** Channels, sample size and rate as declared (QuickTime version 2: from byte 32). */
function audioFields(entry: RawEntry): AudioFields {
  const { fields, boxes } = splitAudioEntry(entry)
  const contents = new Map(boxes.map((box) => [box.type, entryContent(entry, box)]))
  if (splitVersion(entry) !== 2) {
    return {
      channels: fields.getUint16(CHANNELS_AT),
      bits: fields.getUint16(18),
      sampleRate: fields.getUint32(24) / 0x1_00_00,
      contents,
    }
  }
  const whole = new DataView(fields.buffer, fields.byteOffset, FIELD_BYTES + QUICKTIME_BYTES[2])
  return {
    channels: whole.getUint32(40),
    bits: whole.getUint32(48),
    sampleRate: whole.getFloat64(32),
    flags: whole.getUint32(52),
    contents,
  }
}

function splitAudioEntry(entry: RawEntry): EntryParts {
  const version = splitVersion(entry)
  const extraBytes = QUICKTIME_BYTES[version] ?? 0
  const { fields, boxes } = splitEntry(entry, FIELD_BYTES + extraBytes)
  return { fields: new DataView(fields.buffer, fields.byteOffset, FIELD_BYTES), boxes }
}

/**
 * QuickTime's entry version. ISO's own version 1 requires a version 1 stsd and has the fields of
 * version 0.
 */
function splitVersion({ box, bytes, stsdVersion }: RawEntry): number {
  if (stsdVersion === 1) return 0
  return bytes.getUint16(box.contentStart - box.start + VERSION_AT)
}

/** The esds box, which is in the entry or in QuickTime's `wave` box. */
function findEsds(entry: RawEntry, boxes: readonly Box[]): Box | undefined {
  const direct = boxes.find((box) => box.type === 'esds')
  const wave = boxes.find((box) => box.type === 'wave')
  if (direct !== undefined || wave === undefined) return direct
  return parseBoxes(entryContent(entry, wave), wave.contentStart).find((box) => box.type === 'esds')
}

function plainFields(channels: number, sampleRate: number): DataView {
  const fields = new DataView(new ArrayBuffer(FIELD_BYTES))
  fields.setUint16(CHANNELS_AT, channels)
  fields.setUint16(18, 16)
  fields.setUint16(24, sampleRate < 0x1_00_00 ? sampleRate : 0)
  return fields
}

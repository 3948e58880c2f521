// Sample entry boxes (ISO/IEC 14496-12 12.1.3, 12.2.3) for containers that have none.
import { AppError } from '../../base/errors.ts'
import type { AudioTrack, KeyFrame, VideoTrack } from '../media-index.ts'
import { AUDIO_CODECS } from './audio-codecs.ts'
import { parseAacConfig } from './audio-specific-config.ts'
import { SAMPLED_CODECS, VIDEO_FORMATS } from './video-codecs.ts'
import type { SampledVideoCodec } from './video-codecs.ts'
import { box, fullBox, uint16, uint32, zeros } from './write-box.ts'

/** A codec of fMP4: the described track, and its sample entry for the init segment. */
export interface VideoSampleConfig extends Pick<
  VideoTrack,
  'codec' | 'codecName' | 'width' | 'height'
> {
  sampleEntry: Uint8Array
}

export interface AudioSampleConfig extends Pick<
  AudioTrack,
  'codec' | 'codecName' | 'channels' | 'sampleRate'
> {
  sampleEntry: Uint8Array
}

/**
 * Payload of the configuration box and the coded size in pixels. The payload of VP9 is that of vpcC
 * with version and flags.
 */
export interface VideoConfig {
  config: Uint8Array
  width: number
  height: number
}

const DOTS_PER_INCH_72 = 0x00480000
const DEPTH_COLOUR = 0x18

/** The video sample entry; undefined if the configuration is too short. */
export function videoConfig(
  codec: SampledVideoCodec,
  { config, width, height }: VideoConfig,
): VideoSampleConfig | undefined {
  const kind = VIDEO_FORMATS[codec]
  const view = new DataView(config.buffer, config.byteOffset, config.byteLength)
  const text = kind.format(view, kind.entry)
  if (text === undefined) return undefined
  const sampleEntry = box(
    kind.entry,
    zeros(6),
    uint16(1),
    zeros(16),
    uint16(width, height),
    uint32(DOTS_PER_INCH_72, DOTS_PER_INCH_72, 0),
    uint16(1),
    zeros(32),
    uint16(DEPTH_COLOUR, 0xffff),
    box(kind.box, config),
  )
  return { codec: text, codecName: kind.codecName, width, height, sampleEntry }
}

/** ISO/IEC 14496-12 12.1.3: the header and the fields of a visual sample entry. */
const VISUAL_ENTRY_BYTES = 8 + 78

/** Codec, and payload of the configuration box, of a video sample entry that is served. */
export function decoderOf(sampleEntry: Uint8Array): Pick<KeyFrame, 'codec' | 'extradata'> {
  const type = Buffer.from(sampleEntry).toString('latin1', 4, 8)
  const codec = SAMPLED_CODECS.find((each) => VIDEO_FORMATS[each].entries[type] !== undefined)
  if (codec === undefined) throw new AppError('failed', `unknown sample entry ${type}`)
  if (codec === 'vp9') return { codec }
  const extradata = payloadIn(sampleEntry, VIDEO_FORMATS[codec].box)
  return extradata === undefined ? { codec } : { codec, extradata }
}

/** Position of the coded width in a visual sample entry; the height follows. */
const CODED_SIZE_AT = 8 + 24
/** Sizes that differ less do so by the rounding to macroblocks or pixels. */
const MIN_DISTORTION = 0.01

/**
 * Width over height of a pixel as the container states it, which overrides the bitstream: in `pasp`
 * (ISO/IEC 14496-12 12.1.4), or by another size of the track than that of its images. Undefined if
 * it states none.
 */
export function pixelAspectOf({
  sampleEntry,
  width,
  height,
}: Pick<VideoSampleConfig, 'sampleEntry' | 'width' | 'height'>): number | undefined {
  const pasp = payloadIn(sampleEntry, 'pasp')
  if (pasp !== undefined && pasp.length >= 8) {
    const aspect = pasp.readUInt32BE(0) / pasp.readUInt32BE(4)
    if (Number.isFinite(aspect) && aspect > 0) return aspect
  }
  const entry = Buffer.from(sampleEntry)
  const codedAspect = entry.readUInt16BE(CODED_SIZE_AT) / entry.readUInt16BE(CODED_SIZE_AT + 2)
  const aspect = width / height / codedAspect
  const isStated = Number.isFinite(aspect) && aspect > 0 && Math.abs(aspect - 1) >= MIN_DISTORTION
  return isStated ? aspect : undefined
}

/** Payload of the first box of a type in a video sample entry that is served. */
function payloadIn(sampleEntry: Uint8Array, type: string): Buffer | undefined {
  const entry = Buffer.from(sampleEntry)
  let at = VISUAL_ENTRY_BYTES
  while (at + 8 <= entry.length && entry.toString('latin1', at + 4, at + 8) !== type) {
    at += Math.max(entry.readUInt32BE(at), 8)
  }
  return at + 8 > entry.length ? undefined : entry.subarray(at + 8, at + entry.readUInt32BE(at))
}

const MPEG4_AUDIO = 0x40

/** AAC from its AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1); undefined if no browser plays it. */
export function aacSampleConfig(specific: Uint8Array): AudioSampleConfig | undefined {
  const config = parseAacConfig(specific)
  // A descriptor of more than 127 bytes would need longer size fields than those below.
  if (config === undefined || specific.length > 64) return undefined
  const channels = config.channels ?? 2
  const fields = audioFields(channels, config.coreRate)
  const sampleEntry = box('mp4a', fields, fullBox('esds', {}, elementaryStream(specific)))
  const { codec, sampleRate } = config
  return { codec, codecName: AUDIO_CODECS.aac.name, channels, sampleRate, sampleEntry }
}

/** ES, decoder config, decoder specific and SL config descriptors (ISO/IEC 14496-1 7.2.6). */
function elementaryStream(specific: Uint8Array): Uint8Array {
  const decoderSpecific = descriptor(5, specific)
  const AUDIO_STREAM = 0x15
  const decoderConfig = descriptor(
    4,
    Uint8Array.of(MPEG4_AUDIO, AUDIO_STREAM, 0, 0, 0),
    uint32(0, 0),
    decoderSpecific,
  )
  return descriptor(3, Uint8Array.of(0, 0, 0), decoderConfig, descriptor(6, Uint8Array.of(2)))
}

function descriptor(tag: number, ...contents: Uint8Array[]): Uint8Array {
  const content = Buffer.concat(contents)
  return Buffer.concat([Uint8Array.of(tag, content.length), content])
}

const OPUS_MAGIC_BYTES = 8
const OPUS_HEAD_BYTES = 19

/** Opus from its identification header (`OpusHead`, RFC 7845 5.1); undefined if too short. */
export function opusConfig(head: Uint8Array): AudioSampleConfig | undefined {
  if (head.length < OPUS_HEAD_BYTES) return undefined
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const at = OPUS_MAGIC_BYTES
  const dOps = Buffer.concat([
    Uint8Array.of(0, view.getUint8(at + 1)),
    uint16(view.getUint16(at + 2, true)),
    uint32(view.getUint32(at + 4, true)),
    uint16(view.getUint16(at + 8, true)),
    head.subarray(at + 10),
  ])
  return opusConfigFromBox(dOps)
}

const OPUS_BOX_BYTES = 11
/** The clock of Opus, whatever the encoded rate (RFC 7845 4). */
const OPUS_RATE = 48_000

/**
 * Opus from a dOps box (Encapsulation of Opus in ISOBMFF 4.3.2); undefined if too short. Writes the
 * rate of the entry into the box: decoders ignore the encoded rate, and Chromium rejects two rates.
 */
export function opusConfigFromBox(content: Uint8Array): AudioSampleConfig | undefined {
  if (content.length < OPUS_BOX_BYTES) return undefined
  const dOps = Buffer.from(content)
  const channels = dOps.readUInt8(1)
  dOps.writeUInt32BE(OPUS_RATE, 4)
  const sampleEntry = box('Opus', audioFields(channels, OPUS_RATE), box('dOps', dOps))
  return {
    codec: 'opus',
    codecName: AUDIO_CODECS.opus.name,
    channels,
    sampleRate: OPUS_RATE,
    sampleEntry,
  }
}

const STREAM_INFO_BYTES = 34

/**
 * FLAC from its metadata blocks without the `fLaC` mark (Encapsulation of FLAC in ISOBMFF 3.3.2).
 */
export function flacConfig(blocks: Uint8Array): AudioSampleConfig | undefined {
  if (blocks.length < 4 + STREAM_INFO_BYTES || ((blocks[0] ?? 0) & 0x7f) !== 0) return undefined
  const view = new DataView(blocks.buffer, blocks.byteOffset, blocks.byteLength)
  const rateAndChannels = view.getUint32(4 + 10)
  const sampleRate = rateAndChannels >>> 12
  const channels = ((rateAndChannels >>> 9) & 7) + 1
  // STREAMINFO becomes the last block: other blocks may contain large images.
  const info = Uint8Array.from(blocks.subarray(0, 4 + STREAM_INFO_BYTES))
  info[0] = 0x80
  const sampleEntry = box('fLaC', audioFields(channels, sampleRate), fullBox('dfLa', {}, info))
  return { codec: 'flac', codecName: AUDIO_CODECS.flac.name, channels, sampleRate, sampleEntry }
}

/** AudioSampleEntry up to its boxes. A rate above 16 bits is only in the configuration. */
function audioFields(channels: number, sampleRate: number): Uint8Array {
  return Buffer.concat([
    zeros(6),
    uint16(1),
    zeros(8),
    uint16(channels, 16, 0, 0, sampleRate < 0x10000 ? sampleRate : 0, 0),
  ])
}

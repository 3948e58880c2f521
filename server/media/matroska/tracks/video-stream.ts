// Describes a video track by its codec (RFC 9559, Matroska codec registry), or why no browser plays
// it.
import { unplayableVideoIn } from '../../codec/unplayable-video.ts'
import { VIDEO_FORMATS, videoCodecsIn } from '../../codec/video-codecs.ts'
import { parseVp9Private, vpcC } from '../../codec/vp9.ts'
import { type VideoConfig, videoConfig } from '../../codec/sample-entry.ts'
import { CLOCK_RATE, type DescribedVideo, type VideoStream } from '../matroska-source.ts'
import type { UnplayableReason } from '../../../base/problem.ts'
import type { TrackEntry, VideoFields } from './track-entry.ts'

/** A served stream, or the reason why it is not served. */
export type Described<Stream> =
  | { status: 'playable'; stream: Stream }
  | { status: 'unplayable'; reason: UnplayableReason }

const CODECS = videoCodecsIn('matroska')
const UNPLAYABLE = unplayableVideoIn('matroska')
const UNPLAYABLE_FAMILIES: readonly (readonly [prefix: string, name: string])[] = [
  ['V_REAL/', 'RealVideo'],
  ['V_QUICKTIME', 'QuickTime'],
]

const VFW = 'V_MS/VFW/FOURCC'
/** biCompression of a BITMAPINFOHEADER. */
const FOURCC_AT = 16
const FOURCC_NAMES = unplayableVideoIn('vfw')

const MAX_SIDE_PIXELS = 16_384

/**
 * Describes a video track. AV1 and VP9 without a configuration get it later, from the first key
 * frame.
 */
export function describeVideo(entry: TrackEntry): Described<VideoStream> {
  const codec = CODECS.get(entry.codec)
  if (codec === undefined)
    return unplayable({ code: 'video-codec-unsupported', codec: unplayableName(entry) })
  if (entry.encoding.kind === 'encrypted') return unplayable({ code: 'video-encrypted' })
  if (entry.encoding.kind === 'compressed' || entry.encoding.kind === 'zlib') {
    return unplayable({ code: 'video-compressed' })
  }
  const { codecName } = VIDEO_FORMATS[codec]
  const { width, height } = entry.video
  const isPlausible = width > 0 && height > 0 && Math.max(width, height) <= MAX_SIDE_PIXELS
  if (!isPlausible) return unplayable({ code: 'video-size-invalid' })
  const set = configOf(codec, entry)
  const isLater = codec === 'av1' || codec === 'vp9'
  if (set === undefined && !isLater) {
    return unplayable({
      code: 'video-config-missing',
      codec: codecName,
      box: 'CodecPrivate',
    })
  }
  const described: DescribedVideo = {
    kind: 'video',
    codec: set?.codec ?? '',
    codecName,
    width,
    height,
    rotationDegrees: 0,
  }
  const stream: VideoStream = {
    number: entry.number,
    ...(entry.encoding.kind === 'stripped' && { prefix: entry.encoding.prefix }),
    described,
    codec,
    ...(set && { config: set.config }),
    ...displaySize(entry.video),
    defaultDurationTicks: Math.round((entry.defaultDurationNs / 1e9) * CLOCK_RATE),
    ...colourOf(entry.video),
  }
  return { status: 'playable', stream }
}

/** Adds the configuration that was read from the first key frame; undefined if it is not valid. */
export function withVideoConfig(stream: VideoStream, config: Uint8Array): VideoStream | undefined {
  const { width, height } = stream.described
  const set = fromConfig(stream.codec, { config, width, height })
  return (
    set && {
      ...stream,
      described: { ...stream.described, codec: set.codec },
      config: set.config,
    }
  )
}

interface MadeConfig {
  codec: string
  config: NonNullable<VideoStream['config']>
}

function configOf(codec: VideoStream['codec'], entry: TrackEntry): MadeConfig | undefined {
  const { codecPrivate, video } = entry
  const { width, height } = video
  if (codec !== 'vp9') return fromConfig(codec, { config: codecPrivate, width, height })
  const features = parseVp9Private(codecPrivate)
  const { colour } = colourOf(video)
  const config = features && vpcC(features, { width, height, ...(colour && { colour }) })
  return config && fromConfig(codec, { config, width, height })
}

function fromConfig(codec: VideoStream['codec'], video: VideoConfig): MadeConfig | undefined {
  const set = videoConfig(codec, video)
  if (set === undefined) return undefined
  const { sampleEntry } = set
  const extradata = codec === 'vp9' ? {} : { extradata: video.config }
  return { codec: set.codec, config: { sampleEntry, ...extradata } }
}

export function unplayable(reason: UnplayableReason): Described<never> {
  return { status: 'unplayable', reason }
}

function unplayableName({ codec, codecPrivate }: TrackEntry): string {
  if (codec === VFW) {
    const fourcc = Buffer.from(codecPrivate.subarray(FOURCC_AT, FOURCC_AT + 4)).toString('latin1')
    const letters = fourcc.toUpperCase().replaceAll(/[^\x20-\x7e]/g, '?')
    return FOURCC_NAMES.get(letters) ?? letters
  }
  const family = UNPLAYABLE_FAMILIES.find(([prefix]) => codec.startsWith(prefix))
  return UNPLAYABLE.get(codec) ?? family?.[1] ?? codec.slice(0, 32)
}

const PIXELS = 0
const ASPECT_RATIO = 3

/** RFC 9559 5.1.4.1.28.8 to .14: in pixels or as an aspect ratio, else the coded size. */
function displaySize(fields: VideoFields): Pick<VideoStream, 'displayWidth' | 'displayHeight'> {
  const { width, height, displayWidth, displayHeight, displayUnit } = fields
  const isGiven = displayWidth > 0 && displayHeight > 0
  const coded = { displayWidth: width, displayHeight: height }
  if (!isGiven) return coded
  if (displayUnit === ASPECT_RATIO) {
    const wide = Math.round((height * displayWidth) / displayHeight)
    return wide > 0 && wide <= MAX_SIDE_PIXELS
      ? { displayWidth: wide, displayHeight: height }
      : coded
  }
  const isPlausible =
    displayUnit === PIXELS && Math.max(displayWidth, displayHeight) <= MAX_SIDE_PIXELS
  return isPlausible ? { displayWidth, displayHeight } : coded
}

const UNSPECIFIED = 2
const FULL_RANGE = 2

function colourOf({ colour }: VideoFields): Pick<VideoStream, 'colour'> {
  if (colour === undefined) return {}
  const { primaries = UNSPECIFIED, transfer = UNSPECIFIED, matrix = UNSPECIFIED, range } = colour
  return { colour: { primaries, transfer, matrix, isFullRange: range === FULL_RANGE } }
}

// Builds video configurations from the record of the recorder.
import { parseAv1Sequence } from '../codec/av1.ts'
import { START_CODE } from '../codec/nal-unit.ts'
import { videoConfig } from '../codec/sample-entry.ts'
import type { SampledVideoCodec } from '../codec/sample-entry.ts'
import { parseVideoParameters } from '../codec/video-parameters.ts'
import { parseVp9KeyFrame } from '../codec/vp9.ts'
import type { VideoConfigRecord } from './flv-source.ts'

const AVC_SETS_AT = 5
const HEVC_ARRAYS_AT = 22
const AV1_UNITS_AT = 4
/** Version 1 without flags, before VPCodecConfigurationRecord if it is a box. */
const FULL_BOX = Buffer.from([1, 0, 0, 0])
const MAX_PARAMETER_SETS = 64

/** Size 0 means that only the key frames contain it. Undefined if the record is invalid. */
export function readVideoConfig(
  codec: SampledVideoCodec,
  bytes: Uint8Array,
): VideoConfigRecord | undefined {
  const config = codec === 'vp9' ? asFullBox(bytes) : Uint8Array.from(bytes)
  const size = findSize(codec, config)
  if (size === undefined || videoConfig(codec, { config, ...size }) === undefined) return undefined
  return { kind: 'video', codec, config, ...size }
}

function asFullBox(bytes: Uint8Array): Uint8Array {
  return FULL_BOX.equals(bytes.subarray(0, FULL_BOX.length))
    ? Uint8Array.from(bytes)
    : Buffer.concat([FULL_BOX, bytes])
}

type FrameSize = Pick<VideoConfigRecord, 'width' | 'height'>

/** A size that only the key frames contain. */
const NO_SIZE: FrameSize = { width: 0, height: 0 }

/** The size in a key frame. */
export function readFrameSize(codec: 'av1' | 'vp9', bytes: Uint8Array): FrameSize | undefined {
  const found = codec === 'av1' ? parseAv1Sequence(bytes) : parseVp9KeyFrame(bytes)
  return found && { width: found.width, height: found.height }
}

function findSize(codec: SampledVideoCodec, config: Uint8Array): FrameSize | undefined {
  if (codec === 'vp9') return NO_SIZE
  if (codec === 'av1') {
    const { width, height } = parseAv1Sequence(config.subarray(AV1_UNITS_AT)) ?? NO_SIZE
    return { width, height }
  }
  const sets = codec === 'h264' ? avcSets(config) : hevcSets(config)
  const annexB = Buffer.concat(sets.flatMap((set) => [START_CODE, set]))
  const parameters = parseVideoParameters(codec, annexB)
  return parameters && { width: parameters.width, height: parameters.height }
}

/** Sequence parameter sets of AVCDecoderConfigurationRecord (ISO/IEC 14496-15 5.3.3.1). */
function avcSets(config: Uint8Array): Uint8Array[] {
  const count = (config[AVC_SETS_AT] ?? 0) & 0x1f
  return readSets(config, { at: AVC_SETS_AT + 1, count }).sets
}

/** All parameter sets of HEVCDecoderConfigurationRecord (ISO/IEC 14496-15 8.3.3.1). */
function hevcSets(config: Uint8Array): Uint8Array[] {
  const sets: Uint8Array[] = []
  let at = HEVC_ARRAYS_AT + 1
  const arrays = config[HEVC_ARRAYS_AT] ?? 0
  for (let array = 0; array < arrays && sets.length < MAX_PARAMETER_SETS; array += 1) {
    const count = ((config[at + 1] ?? 0) << 8) | (config[at + 2] ?? 0)
    const read = readSets(config, { at: at + 3, count })
    sets.push(...read.sets)
    at = read.end
  }
  return sets
}

function readSets(
  config: Uint8Array,
  { at, count }: { at: number; count: number },
): { sets: Uint8Array[]; end: number } {
  const sets: Uint8Array[] = []
  for (let set = 0; set < Math.min(count, MAX_PARAMETER_SETS); set += 1) {
    const length = ((config[at] ?? 0) << 8) | (config[at + 1] ?? 0)
    if (length === 0 || at + 2 + length > config.length) break
    sets.push(config.subarray(at + 2, at + 2 + length))
    at += 2 + length
  }
  return { sets, end: at }
}

// Builds video configurations from the record of the recorder.
import { parseAv1Sequence } from '../codec/av1.ts'
import { START_CODE } from '../codec/nal-unit.ts'
import { recordedSets } from '../codec/parameter-sets.ts'
import { videoConfig } from '../codec/sample-entry.ts'
import type { SampledVideoCodec } from '../codec/video-codecs.ts'
import { parseVideoParameters } from '../codec/video-parameters.ts'
import { parseVp9KeyFrame } from '../codec/vp9.ts'
import type { VideoConfigRecord } from './flv-source.ts'

const AV1_UNITS_AT = 4
/** Version 1 without flags, before VPCodecConfigurationRecord if it is a box. */
const FULL_BOX = Buffer.from([1, 0, 0, 0])

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
  const { sets } = recordedSets(codec, config)
  const annexB = Buffer.concat(sets.flatMap((set) => [START_CODE, set]))
  const parameters = parseVideoParameters(codec, annexB)
  return parameters && { width: parameters.width, height: parameters.height }
}

// Finds the format of a rendition from the first key frame. Runs in the child process.
import { AVCOL_TRC_ARIB_STD_B67, AVCOL_TRC_SMPTE2084 } from 'node-av/constants'
import type { Frame } from 'node-av/lib'
import { decodeKeyFrame } from '../thumbnails/decode-key-frame.ts'
import { fitImage } from '../thumbnails/fit-image.ts'
import { shapeOf } from '../thumbnails/scale-image.ts'
import { MAX_PIXELS } from './decode-video.ts'
import { openEncoder } from './open-encoder.ts'
import type { DescribeJob, EncodedFormat } from './video-job.ts'

/** The largest width of a rendition, relative to its height. */
const MAX_ASPECT = 4
/** Luma to RGB, as the scaler knows it; a bitstream can contain any value. */
const KNOWN_MATRICES = new Set<number>([1, 5, 6, 7, 9])
const [BT709, BT601] = [1, 6]
/** Players take unspecified video for BT.709 if it is higher than this. */
const MAX_BT601_HEIGHT = 576

/** @throws Error if the frame cannot be decoded, is too large, or is HDR: it would look grey */
export function describeVideo(job: DescribeJob): EncodedFormat {
  using frame = decodeKeyFrame(job.frame, { max_pixels: String(MAX_PIXELS) })
  const { colorPrimaries: primaries, colorTrc: transfer } = frame
  if (transfer === AVCOL_TRC_SMPTE2084 || transfer === AVCOL_TRC_ARIB_STD_B67) {
    throw new Error('the video is HDR')
  }
  const format = { ...sizeOf(frame, job), primaries, transfer, matrix: matrixOf(frame) }
  using encoder = openEncoder(format, job)
  return { ...format, config: Uint8Array.from(encoder.extraData ?? []) }
}

/** Upright. */
function sizeOf(frame: Frame, job: DescribeJob) {
  const { rotationDegrees } = job.frame
  const shape = shapeOf(frame, rotationDegrees)
  const pixelAspect = job.pixelAspect ?? shape.pixelAspect
  const bounds = { width: job.height * MAX_ASPECT, height: job.height }
  const { width, height } = fitImage({ ...shape, pixelAspect }, bounds)
  return rotationDegrees % 180 === 0 ? { width, height } : { width: height, height: width }
}

function matrixOf({ colorSpace, height }: Frame): number {
  if (KNOWN_MATRICES.has(colorSpace)) return colorSpace
  return height > MAX_BT601_HEIGHT ? BT709 : BT601
}

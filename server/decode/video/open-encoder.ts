// Opens the H.264 encoder of renditions. Runs in the child process.
import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_PIX_FMT_YUV420P,
  AVCOL_RANGE_MPEG,
  FF_ENCODER_LIBX264,
} from 'node-av/constants'
import type {
  AVColorPrimaries,
  AVColorSpace,
  AVColorTransferCharacteristic,
} from 'node-av/constants'
import { Codec, CodecContext, Rational } from 'node-av/lib'
import { openCodec } from '../child/open-codec.ts'
import type { EncodedFormat, EncodeJob } from './video-job.ts'

/**
 * The bytes of a segment must not depend on the machine, nor on other segments: one thread, no code
 * that only some processors have (`cpu-independent`), one closed GOP in the order of the times.
 * `annexb=0` gives samples and the avcC of MP4.
 */
const X264_PARAMETERS = [
  'annexb=0:threads=1:lookahead-threads=1:sync-lookahead=0:cpu-independent=1',
  'bframes=0:keyint=infinite:scenecut=0:open-gop=0',
].join(':')

/** See docs/qualities.md for what they cost. */
const SETTINGS = { preset: 'veryfast', profile: 'high', level: 4, crf: 24 }

/** @throws Error if there is no such encoder */
export function openEncoder(
  { width, height, primaries, transfer, matrix }: Omit<EncodedFormat, 'config'>,
  { timescale, maxBitsPerSecond }: Pick<EncodeJob, 'timescale' | 'maxBitsPerSecond'>,
): CodecContext {
  const codec = Codec.findEncoderByName(FF_ENCODER_LIBX264)
  if (codec === null) throw new Error('no H.264 encoder')
  const context = new CodecContext()
  context.allocContext3(codec)
  context.width = width
  context.height = height
  context.pixelFormat = AV_PIX_FMT_YUV420P
  context.sampleAspectRatio = new Rational(1, 1)
  context.timeBase = new Rational(1, timescale)
  context.framerate = new Rational(30, 1)
  context.colorRange = AVCOL_RANGE_MPEG
  // The numbers are those of a decoded frame.
  context.colorPrimaries = primaries as AVColorPrimaries
  context.colorTrc = transfer as AVColorTransferCharacteristic
  context.colorSpace = matrix as AVColorSpace
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER)
  openCodec(context, codec, {
    ...SETTINGS,
    maxrate: maxBitsPerSecond,
    bufsize: 2 * maxBitsPerSecond,
    'x264-params': X264_PARAMETERS,
  })
  return context
}

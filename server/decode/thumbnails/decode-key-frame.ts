// Decodes one key frame. Runs only in the child process, because native code parses untrusted
// bytes.
import {
  FF_DECODER_H264,
  FF_DECODER_HEVC,
  FF_DECODER_LIBDAV1D,
  FF_DECODER_MPEG2VIDEO,
  FF_DECODER_VP8,
  FF_DECODER_VP9,
} from 'node-av/constants'
import type { FFDecoderCodec } from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Frame, Packet } from 'node-av/lib'
import type { KeyFrame } from '../../media/media-index.ts'
import { openCodec } from '../child/open-codec.ts'
import { MAX_IMAGE_PIXELS } from './render-message.ts'

/** No other decoder is ever opened. */
export const DECODERS: Record<KeyFrame['codec'], FFDecoderCodec> = {
  h264: FF_DECODER_H264,
  hevc: FF_DECODER_HEVC,
  av1: FF_DECODER_LIBDAV1D,
  vp9: FF_DECODER_VP9,
  vp8: FF_DECODER_VP8,
  mpeg2video: FF_DECODER_MPEG2VIDEO,
}

/**
 * The decoded frame, which the caller disposes of. Throws if the bytes cannot be decoded.
 *
 * @param options of the decoder, besides the usual ones
 */
export function decodeKeyFrame(keyFrame: KeyFrame, options: Record<string, string> = {}): Frame {
  const { codec, ...frame } = keyFrame
  return decodeImage({
    ...frame,
    decoder: DECODERS[codec],
    options: {
      max_pixels: MAX_IMAGE_PIXELS,
      flags: '+output_corrupt',
      // Also outputs a recovery point that is not an IDR frame.
      flags2: '+showall',
      ...options,
    },
  })
}

/** An image, or the packet of a frame. */
export interface EncodedImage extends Pick<KeyFrame, 'data' | 'extradata'> {
  decoder: FFDecoderCodec
  /** If the data lacks its size: both, in pixels. */
  size?: { width: number; height: number }
  options: Record<string, string | number>
}

/** The first frame that a decoder outputs, as `decodeKeyFrame`. */
export function decodeImage({ decoder, data, extradata, size, options }: EncodedImage): Frame {
  const codec = Codec.findDecoderByName(decoder)
  if (codec === null) throw new Error(`no decoder ${decoder}`)
  using context = new CodecContext()
  context.allocContext3(codec)
  if (extradata !== undefined) context.extraData = Buffer.from(extradata)
  if (size !== undefined) Object.assign(context, size)
  // One thread bounds the memory.
  context.threadCount = 1
  openCodec(context, codec, options)
  using packet = new Packet()
  packet.alloc()
  packet.data = Buffer.from(data)
  packet.isKeyframe = true
  FFmpegError.throwIfError(context.sendPacketSync(packet), 'decode')
  FFmpegError.throwIfError(context.sendPacketSync(null), 'decode')
  const frame = new Frame()
  frame.alloc()
  FFmpegError.throwIfError(context.receiveFrameSync(frame), 'decode')
  return frame
}

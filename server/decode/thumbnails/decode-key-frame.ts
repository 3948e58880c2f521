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
  const codec = Codec.findDecoderByName(DECODERS[keyFrame.codec])
  if (codec === null) throw new Error(`no decoder for ${keyFrame.codec}`)
  using context = new CodecContext()
  context.allocContext3(codec)
  if (keyFrame.extradata !== undefined) context.extraData = Buffer.from(keyFrame.extradata)
  // One thread bounds the memory; showall also outputs a recovery point that is not an IDR frame.
  context.threadCount = 1
  openCodec(context, codec, {
    max_pixels: MAX_IMAGE_PIXELS,
    flags: '+output_corrupt',
    flags2: '+showall',
    ...options,
  })
  using packet = new Packet()
  packet.alloc()
  packet.data = Buffer.from(keyFrame.data)
  packet.isKeyframe = true
  FFmpegError.throwIfError(context.sendPacketSync(packet), 'decode')
  FFmpegError.throwIfError(context.sendPacketSync(null), 'decode')
  const frame = new Frame()
  frame.alloc()
  FFmpegError.throwIfError(context.receiveFrameSync(frame), 'decode')
  return frame
}

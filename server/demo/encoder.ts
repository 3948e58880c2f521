// Encoders of FFmpeg, one frame after the other. Runs in the demo process.
import { AV_CODEC_FLAG_GLOBAL_HEADER } from 'node-av/constants'
import type { FFEncoderCodec } from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Packet } from 'node-av/lib'
import type { Frame } from 'node-av/lib'

export interface CodedFrame {
  data: Buffer
  pts: number
}

/** Opens an encoder; `fields` are those of its context, `options` its own. */
export function openEncoder(
  name: FFEncoderCodec,
  fields: Partial<CodecContext>,
  options: Record<string, string | number>,
): CodecContext {
  const codec = Codec.findEncoderByName(name)
  if (codec === null) throw new Error(`no encoder ${name}`)
  const context = new CodecContext()
  context.allocContext3(codec)
  Object.assign(context, fields)
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER)
  for (const [option, value] of Object.entries(options)) {
    FFmpegError.throwIfError(context.setOption(option, value), option)
  }
  FFmpegError.throwIfError(context.open2Sync(codec, null), `open ${name}`)
  return context
}

/** Encodes frames, or finishes (`null`), and returns what is complete, in coding order. */
export function encodeFrame(context: CodecContext, frame: Frame | null): CodedFrame[] {
  FFmpegError.throwIfError(context.sendFrameSync(frame), 'encode')
  const coded: CodedFrame[] = []
  using packet = new Packet()
  packet.alloc()
  while (context.receivePacketSync(packet) >= 0) {
    coded.push({ data: Buffer.from(packet.data ?? []), pts: Number(packet.pts) })
    packet.unref()
  }
  return coded
}

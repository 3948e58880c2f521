// FFmpeg's demuxers and encoders (node-av), as makers and references of tests use them.
import { AV_LOG_QUIET } from 'node-av/constants'
import type { FFEncoderCodec } from 'node-av/constants'
import {
  Codec,
  CodecContext,
  Dictionary,
  FFmpegError,
  FormatContext,
  Log,
  Packet,
} from 'node-av/lib'
import type { Frame, Stream } from 'node-av/lib'

/** Options of FFmpeg's demuxer, e.g. `{ ignore_editlist: 1 }` (mov). */
export type DemuxerOptions = Record<string, string | number>

/** Opens a media file, and closes it when it is read. */
export async function withDemuxer<Result>(
  path: string,
  read: (demuxer: FormatContext) => Promise<Result>,
  options: DemuxerOptions = {},
): Promise<Result> {
  Log.setLevel(AV_LOG_QUIET)
  const demuxer = new FormatContext()
  using dictionary = Dictionary.fromObject(options)
  FFmpegError.throwIfError(await demuxer.openInput(path, null, dictionary), 'open input')
  try {
    FFmpegError.throwIfError(await demuxer.findStreamInfo(), 'find streams')
    return await read(demuxer)
  } finally {
    await demuxer.closeInput()
  }
}

/** Visits every packet in file order. A packet is valid during its visit. */
export async function eachPacket(
  demuxer: FormatContext,
  visit: (packet: Packet, stream: Stream) => void | Promise<void>,
): Promise<void> {
  using packet = new Packet()
  packet.alloc()
  while ((await demuxer.readFrame(packet)) >= 0) {
    const stream = demuxer.streams[packet.streamIndex]
    if (stream !== undefined) await visit(packet, stream)
    packet.unref()
  }
}

/** An encoder with one of FFmpeg's names. The caller frees it. */
export function openEncoder(
  name: string,
  configure: (context: CodecContext, encoder: Codec) => void,
): CodecContext {
  Log.setLevel(AV_LOG_QUIET)
  const encoder = Codec.findEncoderByName(name as FFEncoderCodec)
  if (encoder === null) throw new Error(`no encoder ${name}`)
  const context = new CodecContext()
  context.allocContext3(encoder)
  configure(context, encoder)
  FFmpegError.throwIfError(context.open2Sync(encoder, null), name)
  return context
}

/** Encodes and frees the frames. A packet is valid while it is taken. */
export function encodeFrames(
  context: CodecContext,
  frames: Iterable<Frame>,
  take: (packet: Packet) => void,
): void {
  using packet = new Packet()
  packet.alloc()
  const receive = (): void => {
    while (context.receivePacketSync(packet) >= 0) {
      take(packet)
      packet.unref()
    }
  }
  for (const frame of frames) {
    FFmpegError.throwIfError(context.sendFrameSync(frame), 'encode')
    frame.free()
    receive()
  }
  FFmpegError.throwIfError(context.sendFrameSync(null), 'encode')
  receive()
}

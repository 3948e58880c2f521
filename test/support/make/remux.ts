// Remuxes a recording's packets into another container with FFmpeg's muxers (node-av).
import { FFmpegError, FormatContext, Packet, Rational } from 'node-av/lib'

/** The container follows from the name of `to`. */
export async function remux(from: string, to: string): Promise<void> {
  const source = new FormatContext()
  FFmpegError.throwIfError(await source.openInput(from, null, null), 'open input')
  FFmpegError.throwIfError(await source.findStreamInfo(), 'find streams')
  const muxer = new FormatContext()
  FFmpegError.throwIfError(muxer.allocOutputContext2(null, null, to), 'open output')
  for (const { codecpar } of source.streams) {
    const stream = muxer.newStream(null)
    FFmpegError.throwIfError(codecpar.copy(stream.codecpar), 'describe')
    // Every container has its own.
    stream.codecpar.codecTag = 0
  }
  FFmpegError.throwIfError(await muxer.openOutput(), 'open output')
  FFmpegError.throwIfError(await muxer.writeHeader(null), 'write header')
  await copyPackets(source, muxer)
  FFmpegError.throwIfError(await muxer.writeTrailer(), 'write trailer')
  await muxer.closeOutput()
  muxer.freeContext()
  await source.closeInput()
}

async function copyPackets(source: FormatContext, muxer: FormatContext): Promise<void> {
  using packet = new Packet()
  packet.alloc()
  while ((await source.readFrame(packet)) >= 0) {
    const [from, to] = [source, muxer].map(({ streams }) => streams[packet.streamIndex]?.timeBase)
    packet.rescaleTs(from ?? new Rational(1, 1), to ?? new Rational(1, 1))
    FFmpegError.throwIfError(await muxer.interleavedWriteFrame(packet), 'write')
  }
}

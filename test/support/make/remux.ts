// Remuxes a recording's packets into another container with FFmpeg's muxers (node-av).
import { AV_LOG_QUIET, AVMEDIA_TYPE_AUDIO } from 'node-av/constants'
import { Dictionary, FFmpegError, FormatContext, Log, Packet, Rational } from 'node-av/lib'

/**
 * The container follows from the name of `to`. With `audioLanguages` (ISO 639-2), the audio is
 * written once per language.
 */
export async function remux(
  from: string,
  to: string,
  audioLanguages: readonly string[] = ['und'],
): Promise<void> {
  Log.setLevel(AV_LOG_QUIET)
  const source = new FormatContext()
  FFmpegError.throwIfError(await source.openInput(from, null, null), 'open input')
  FFmpegError.throwIfError(await source.findStreamInfo(), 'find streams')
  const muxer = new FormatContext()
  FFmpegError.throwIfError(muxer.allocOutputContext2(null, null, to), 'open output')
  /** The stream of the source for each stream of the muxer. */
  const plan: number[] = []
  for (const { codecpar, index } of source.streams) {
    const languages = codecpar.codecType === AVMEDIA_TYPE_AUDIO ? audioLanguages : ['und']
    for (const language of languages) {
      const stream = muxer.newStream(null)
      FFmpegError.throwIfError(codecpar.copy(stream.codecpar), 'describe')
      // Every container has its own.
      stream.codecpar.codecTag = 0
      if (language !== 'und') stream.metadata = Dictionary.fromObject({ language })
      plan.push(index)
    }
  }
  FFmpegError.throwIfError(await muxer.openOutput(), 'open output')
  FFmpegError.throwIfError(await muxer.writeHeader(null), 'write header')
  await copyPackets(source, muxer, plan)
  FFmpegError.throwIfError(await muxer.writeTrailer(), 'write trailer')
  await muxer.closeOutput()
  muxer.freeContext()
  await source.closeInput()
}

async function copyPackets(
  source: FormatContext,
  muxer: FormatContext,
  plan: readonly number[],
): Promise<void> {
  using packet = new Packet()
  packet.alloc()
  while ((await source.readFrame(packet)) >= 0) {
    const from = source.streams[packet.streamIndex]?.timeBase ?? new Rational(1, 1)
    for (const [at, index] of plan.entries()) {
      using copy = index === packet.streamIndex ? packet.clone() : null
      if (copy === null) continue
      copy.streamIndex = at
      copy.rescaleTs(from, muxer.streams[at]?.timeBase ?? new Rational(1, 1))
      FFmpegError.throwIfError(await muxer.interleavedWriteFrame(copy), 'write')
    }
  }
}

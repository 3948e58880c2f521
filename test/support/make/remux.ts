// Remuxes a recording's packets into another container with FFmpeg's muxers (node-av).
import { AVMEDIA_TYPE_AUDIO } from 'node-av/constants'
import { Dictionary, FFmpegError, FormatContext } from 'node-av/lib'
import { eachPacket, withDemuxer } from '../ffmpeg.ts'

/**
 * The container follows from the name of `to`. With `audioLanguages` (ISO 639-2), the audio is
 * written once per language.
 */
export async function remux(
  from: string,
  to: string,
  audioLanguages: readonly string[] = ['und'],
): Promise<void> {
  await withDemuxer(from, (source) => writeCopy(source, to, audioLanguages))
}

async function writeCopy(
  source: FormatContext,
  to: string,
  audioLanguages: readonly string[],
): Promise<void> {
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
}

async function copyPackets(
  source: FormatContext,
  muxer: FormatContext,
  plan: readonly number[],
): Promise<void> {
  await eachPacket(source, async (packet, { index: from, timeBase }) => {
    for (const [at, index] of plan.entries()) {
      using copy = index === from ? packet.clone() : null
      const stream = muxer.streams[at]
      if (copy === null || stream === undefined) continue
      copy.streamIndex = at
      copy.rescaleTs(timeBase, stream.timeBase)
      FFmpegError.throwIfError(await muxer.interleavedWriteFrame(copy), 'write')
    }
  })
}

// The codecs of child processes: opens one with options, and silences all.
import { AV_LOG_QUIET } from 'node-av/constants'
import { FFmpegError, Log } from 'node-av/lib'
import type { Codec, CodecContext } from 'node-av/lib'

/** They write nothing to the output, which the parent reads. */
export function silenceCodecs(): void {
  Log.setLevel(AV_LOG_QUIET)
}

/**
 * Sets options one by one: avcodec_open2 frees a Dictionary, and the binding would free it again.
 */
export function openCodec(
  context: CodecContext,
  codec: Codec,
  options: Record<string, string | number>,
): void {
  for (const [name, value] of Object.entries(options)) {
    FFmpegError.throwIfError(context.setOption(name, value), `set ${name}`)
  }
  FFmpegError.throwIfError(context.open2Sync(codec, null), 'open codec')
}

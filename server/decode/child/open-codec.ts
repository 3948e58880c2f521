// Opens a codec with options. Runs only in the child process.
import { FFmpegError } from 'node-av/lib'
import type { Codec, CodecContext } from 'node-av/lib'

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

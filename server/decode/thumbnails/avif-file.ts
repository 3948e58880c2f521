// Wraps one AV1 frame in an AVIF file (ISO/IEC 23000-22), in memory, with FFmpeg's muxer.
import { AVSEEK_SIZE } from 'node-av/constants'
import { FFmpegError, FormatContext, IOContext, Rational } from 'node-av/lib'
import type { CodecContext, Packet } from 'node-av/lib'

const SEEK_CURRENT = 1
const SEEK_END = 2
const IO_BUFFER_BYTES = 4096

/** The bytes of the file. `encoder` is the one that encoded the packet. */
export function wrapAvif(packet: Packet, encoder: CodecContext): Uint8Array {
  const file = createMemoryFile()
  using io = new IOContext()
  io.allocContextWithCallbacks(IO_BUFFER_BYTES, 1, null, file.write, file.seek)
  const muxer = new FormatContext()
  try {
    FFmpegError.throwIfError(muxer.allocOutputContext2(null, 'avif', null), 'open AVIF')
    muxer.pb = io
    const stream = muxer.newStream(null)
    stream.timeBase = new Rational(1, 1)
    FFmpegError.throwIfError(encoder.parametersFromContext(stream.codecpar), 'open AVIF')
    FFmpegError.throwIfError(muxer.writeHeaderSync(null), 'write AVIF')
    packet.streamIndex = 0
    packet.pts = 0n
    packet.dts = 0n
    FFmpegError.throwIfError(muxer.writeFrameSync(packet), 'write AVIF')
    FFmpegError.throwIfError(muxer.writeTrailerSync(), 'write AVIF')
    io.flushSync()
    return file.bytes()
  } finally {
    // This code owns the I/O context: detach it first, or it would be freed twice.
    muxer.pb = null
    muxer.freeContext()
  }
}

interface MemoryFile {
  write: (chunk: Buffer) => number
  seek: (offset: bigint, whence: number) => bigint
  bytes: () => Uint8Array
}

/** A growing in-memory file with the callbacks of FFmpeg's I/O context. */
function createMemoryFile(): MemoryFile {
  let content = Buffer.alloc(64 * 1024)
  let position = 0
  let end = 0
  return {
    write(chunk: Buffer): number {
      const needed = position + chunk.length
      if (needed > content.length) content = Buffer.concat([content, Buffer.alloc(needed)])
      chunk.copy(content, position)
      position = needed
      end = Math.max(end, position)
      return chunk.length
    },
    seek(offset: bigint, whence: number): bigint {
      if (whence === AVSEEK_SIZE) return BigInt(end)
      const origin = whence === SEEK_CURRENT ? position : whence === SEEK_END ? end : 0
      position = origin + Number(offset)
      return BigInt(position)
    },
    bytes: (): Uint8Array => Uint8Array.from(content.subarray(0, end)),
  }
}

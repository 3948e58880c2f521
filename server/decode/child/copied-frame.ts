// Makes frames of pixels that JavaScript has. Runs only in child processes.
import type { AVPixelFormat } from 'node-av/constants'
import { FFmpegError, Frame } from 'node-av/lib'

/** A frame to make. */
export interface FrameShape {
  width: number
  height: number
  format: AVPixelFormat
}

/**
 * A frame with a copy of the pixels, whose planes have no padding. That of `Frame.fromVideoBuffer`
 * only points to them, and Node may free them before they are encoded. The caller disposes of it.
 */
export function copiedFrame(pixels: Uint8Array, shape: FrameShape): Frame {
  const bytes = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength)
  using view = Frame.fromVideoBuffer(bytes, shape)
  const frame = new Frame()
  frame.alloc()
  frame.width = shape.width
  frame.height = shape.height
  frame.format = shape.format
  FFmpegError.throwIfError(frame.getBuffer(), 'allocate a frame')
  // The message keeps the bytes alive.
  FFmpegError.throwIfError(frame.copy(view), `copy ${bytes.length} bytes of pixels`)
  return frame
}

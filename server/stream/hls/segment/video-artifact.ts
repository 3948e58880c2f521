// The encoded video of a segment as a file of a cache that nodes share.
import { areFrames } from '../../../decode/video/video-encoder.ts'
import type { EncodedFrames } from '../../../decode/video/video-job.ts'

const COUNT_BYTES = 4
const FRAME_BYTES = 12

/** Number of frames, size and time (32 and 64 bits) of each, little-endian; then the frames. */
export function packFrames({ sizes, ticks, bytes }: EncodedFrames): Uint8Array {
  const head = Buffer.alloc(COUNT_BYTES + sizes.length * FRAME_BYTES)
  head.writeUInt32LE(sizes.length)
  sizes.forEach((size, at) => {
    head.writeUInt32LE(size, COUNT_BYTES + at * FRAME_BYTES)
    head.writeDoubleLE(ticks[at] ?? 0, COUNT_BYTES + at * FRAME_BYTES + 4)
  })
  return Buffer.concat([head, bytes])
}

/** Undefined for anything that `packFrames` has not made. */
export function unpackFrames(packed: Uint8Array): EncodedFrames | undefined {
  const buffer = Buffer.from(packed.buffer, packed.byteOffset, packed.length)
  const count = buffer.length < COUNT_BYTES ? 0 : buffer.readUInt32LE()
  const start = COUNT_BYTES + count * FRAME_BYTES
  if (start > buffer.length) return undefined
  const sizes = Uint32Array.from({ length: count }, (_, at) =>
    buffer.readUInt32LE(COUNT_BYTES + at * FRAME_BYTES),
  )
  const ticks = Float64Array.from({ length: count }, (_, at) =>
    buffer.readDoubleLE(COUNT_BYTES + at * FRAME_BYTES + 4),
  )
  const frames = { sizes, ticks, bytes: buffer.subarray(start) }
  return areFrames(frames) ? frames : undefined
}

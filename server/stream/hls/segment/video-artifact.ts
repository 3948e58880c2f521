// Encoded video as files of a cache that nodes share: the frames of a segment, and the format of a
// rendition.
import { areFrames, encodedFormatShape } from '../../../decode/video/video-encoder.ts'
import type { EncodedFormat, EncodedFrames } from '../../../decode/video/video-job.ts'

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

/** JSON with the payload of the avcC box in Base64. `none`: the recording has no renditions. */
export function packFormat(format: EncodedFormat | 'none'): Uint8Array {
  if (format === 'none') return Buffer.from(JSON.stringify(null))
  const config = Buffer.from(format.config).toString('base64')
  return Buffer.from(JSON.stringify({ ...format, config }))
}

/** Undefined for anything that `packFormat` has not made. */
export function unpackFormat(packed: Uint8Array): EncodedFormat | 'none' | undefined {
  try {
    const format: unknown = JSON.parse(Buffer.from(packed).toString(), (name, value: unknown) =>
      name === 'config' ? Uint8Array.from(Buffer.from(String(value), 'base64')) : value,
    )
    return format === null ? 'none' : encodedFormatShape.safeParse(format).data
  } catch {
    return undefined
  }
}

// Transcoded audio of a segment as an artifact that nodes share: encoders may differ between their
// processors, and a URL has one byte sequence.
import { FRAME_SAMPLES } from '../../../decode/audio/audio-job.ts'
import type { SampleRun } from '../../../media/media-reader.ts'

/** Timescale and number of frames (32 bits each), first decode time (64 bits). */
const HEADER_BYTES = 16

/** The header, the size of each frame (32 bits), then the frames; little-endian. */
export function encodeAudio({ timescale, firstDecodeTicks, sizes, bytes }: SampleRun): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES + sizes.length * 4)
  header.writeUInt32LE(timescale, 0)
  header.writeUInt32LE(sizes.length, 4)
  header.writeDoubleLE(firstDecodeTicks, 8)
  for (const [i, size] of sizes.entries()) header.writeUInt32LE(size, HEADER_BYTES + i * 4)
  return Buffer.concat([header, bytes ?? Buffer.alloc(0)])
}

/** Undefined for anything that `encodeAudio` has not made. */
export function decodeAudio(stored: Uint8Array): SampleRun | undefined {
  const buffer = Buffer.from(stored.buffer, stored.byteOffset, stored.length)
  if (buffer.length < HEADER_BYTES) return undefined
  const count = buffer.readUInt32LE(4)
  const start = HEADER_BYTES + count * 4
  if (start > buffer.length) return undefined
  const sizes = Uint32Array.from({ length: count }, (_, i) =>
    buffer.readUInt32LE(HEADER_BYTES + i * 4),
  )
  const bytes = buffer.subarray(start)
  const firstDecodeTicks = buffer.readDoubleLE(8)
  if (sizes.reduce((sum, size) => sum + size, 0) !== bytes.length) return undefined
  if (!Number.isFinite(firstDecodeTicks)) return undefined
  const durations = new Uint32Array(count).fill(FRAME_SAMPLES)
  const timescale = buffer.readUInt32LE(0)
  return { kind: 'audio', timescale, firstDecodeTicks, sizes, bytes, durations }
}

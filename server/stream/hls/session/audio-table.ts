// What the file with a recording's audio needs of each segment: its size and its start.
import { setTimeout as sleep } from 'node:timers/promises'
import type { SegmentBody } from '../../delivery/segment-body.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { readFirstDecodeTicks } from '../fmp4/media-segment.ts'
import { SOUND } from '../playlist/segment-names.ts'
import { ownBytes } from '../segment/segment-bodies.ts'
import type { HlsRecording } from './hls-recording.ts'

/** The only recording of a session that has ended. */
export interface SoleRecording {
  recording: HlsRecording
  /** Of which the recording was indexed. */
  file: OpenFile
}

/** Parallel lists of the segments in the plan of `SOUND`. */
export interface AudioTable {
  /** In bytes; 0 for a segment without audio. */
  sizes: Uint32Array
  /** Decode time of its first sample, in the timescale of the track. */
  startTicks: Float64Array
}

const ENTRY_BYTES = 12
/** Waits this often as long as it works: whatever visitors wait for comes first. */
const PAUSES = 2

/**
 * Lays out each segment of the audio. MPEG-TS is read in whole, of other containers the tables.
 *
 * @throws AppError `failed` if the file has changed or is corrupt; the signal's reason
 */
export async function measureAudio(
  source: SoleRecording,
  signal: AbortSignal,
): Promise<AudioTable> {
  const { recording, file } = source
  const { length } = recording.planOf(SOUND).segments
  const table = { sizes: new Uint32Array(length), startTicks: new Float64Array(length) }
  for (let number = 0; number < length; number += 1) {
    const startMs = performance.now()
    const body = await createAudioSegment(source, number, signal)
    if (body !== undefined && body.sizeBytes > 0) {
      table.sizes[number] = body.sizeBytes
      table.startTicks[number] = readFirstDecodeTicks(ownBytes(body.parts[0]))
    }
    await sleep((performance.now() - startMs) * PAUSES, undefined, { signal })
  }
  await recording.checkUnchanged(file)
  return table
}

/** The audio of a segment; undefined if it cannot be created. */
export async function createAudioSegment(
  { recording, file }: SoleRecording,
  number: number,
  signal: AbortSignal,
): Promise<SegmentBody | undefined> {
  const tailBytes = recording.planOf(SOUND).segments[number]?.tailBytes
  return recording.createSegment({ number, tailBytes, rendition: SOUND, signal }, file)
}

/** Little-endian: the size (32 bits) and the start (64 bits) of each segment. */
export function encodeAudioTable({ sizes, startTicks }: AudioTable): Uint8Array {
  const bytes = Buffer.alloc(sizes.length * ENTRY_BYTES)
  for (const [number, size] of sizes.entries()) {
    bytes.writeUInt32LE(size, number * ENTRY_BYTES)
    bytes.writeDoubleLE(startTicks[number] ?? 0, number * ENTRY_BYTES + 4)
  }
  return bytes
}

/** Undefined for anything but the table of this many segments. */
export function decodeAudioTable(stored: Uint8Array, segments: number): AudioTable | undefined {
  if (stored.length !== segments * ENTRY_BYTES) return undefined
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length)
  const numbers = Array.from({ length: segments }, (_, number) => number * ENTRY_BYTES)
  return {
    sizes: Uint32Array.from(numbers, (at) => bytes.readUInt32LE(at)),
    startTicks: Float64Array.from(numbers, (at) => bytes.readDoubleLE(at + 4)),
  }
}

// The cache of segment bodies: computed bytes, and ranges of recordings.
import { LRUCache } from 'lru-cache'
import type { SegmentBody } from '../../delivery/segment-body.ts'
import type { Part } from '../../../media/media-reader.ts'

const MAX_CACHED_BYTES = 48 * 1024 * 1024
/** Memory of a part besides its own bytes. */
const PART_BYTES = 100

/** Bodies of all recordings, by URL version and file name. */
export type SegmentBodies = LRUCache<string, SegmentBody>

export function createSegmentBodies(): SegmentBodies {
  return new LRUCache({ maxSize: MAX_CACHED_BYTES, sizeCalculation: memoryBytes })
}

function memoryBytes({ parts }: SegmentBody): number {
  return parts.reduce((sum, part) => sum + PART_BYTES + ownBytes(part).length, PART_BYTES)
}

/** Bytes of a part that are not in the recording. */
export function ownBytes(part: Part | undefined): Uint8Array {
  return part?.kind === 'bytes' ? part.bytes : new Uint8Array(0)
}

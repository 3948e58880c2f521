// Finds where a walk can resume after corrupt bytes: at a cluster, or at the header of an appended
// file.
import { MAX_HEADER_BYTES, parseHeader } from './ebml.ts'
import { EBML_HEADER, FIRST_IN_CLUSTER } from './element-ids.ts'

const CLUSTER_ID = Uint8Array.of(0x1f, 0x43, 0xb6, 0x75)
const EBML_ID = Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3)
const ID_BYTES = 4
const MAX_EBML_HEADER_BYTES = 4096

/**
 * Result of a search: the offset of a match (`yes`), of an incomplete candidate (`short`), or after
 * a false candidate (`no`).
 */
export interface ClusterSearch {
  offset: number
  found: 'yes' | 'no' | 'short'
}

/** Searches for a cluster at or after `from`. */
export function findCluster(bytes: Uint8Array, from: number): ClusterSearch {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const marks = [buffer.indexOf(CLUSTER_ID, from), buffer.indexOf(EBML_ID, from)]
  const offset = Math.min(...marks.map((mark) => (mark < 0 ? Infinity : mark)))
  if (offset === Infinity) {
    // An ID may start in the last bytes.
    const rest = Math.max(from, bytes.length - ID_BYTES + 1)
    return { offset: rest, found: 'short' }
  }
  const header = parseHeader(bytes, offset)
  if (header === 'invalid') return { offset: offset + 1, found: 'no' }
  if (header === 'short') return { offset, found: 'short' }
  if (header.id === EBML_HEADER) {
    const isEbmlHeader = header.sizeBytes > 0 && header.sizeBytes <= MAX_EBML_HEADER_BYTES
    return isEbmlHeader ? { offset, found: 'yes' } : { offset: offset + 1, found: 'no' }
  }
  const child = parseHeader(bytes, offset + header.headerBytes)
  if (child === 'short' && bytes.length - offset < 2 * MAX_HEADER_BYTES)
    return { offset, found: 'short' }
  const isCluster = child !== 'short' && child !== 'invalid' && FIRST_IN_CLUSTER.has(child.id)
  return isCluster ? { offset, found: 'yes' } : { offset: offset + 1, found: 'no' }
}

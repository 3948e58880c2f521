// Finds where a walk can go on behind damage: at the next cluster, or at the head of a file that was appended.
import { MAX_HEADER_BYTES, parseHeader } from './ebml.ts'
import { EBML_HEAD, FIRST_IN_CLUSTER } from './element-ids.ts'

const CLUSTER_MARK = Uint8Array.of(0x1f, 0x43, 0xb6, 0x75)
const FILE_MARK = Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3)
const MARK_BYTES = 4
const MAX_FILE_HEAD_BYTES = 4096

/** Where the search stands: at a find, before bytes that may begin one and are cut off (`short`), or behind what is none. */
export interface ClusterSearch {
  offset: number
  found: 'yes' | 'no' | 'short'
}

/** Looks for a cluster that begins at or behind `from`. */
export function findCluster(bytes: Uint8Array, from: number): ClusterSearch {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const marks = [buffer.indexOf(CLUSTER_MARK, from), buffer.indexOf(FILE_MARK, from)]
  const offset = Math.min(...marks.map((mark) => (mark < 0 ? Infinity : mark)))
  if (offset === Infinity) {
    // A mark may begin in the last bytes.
    const rest = Math.max(from, bytes.length - MARK_BYTES + 1)
    return { offset: rest, found: 'short' }
  }
  const header = parseHeader(bytes, offset)
  if (header === 'broken') return { offset: offset + 1, found: 'no' }
  if (header === 'short') return { offset, found: 'short' }
  if (header.id === EBML_HEAD) {
    const isHead = header.sizeBytes > 0 && header.sizeBytes <= MAX_FILE_HEAD_BYTES
    return isHead ? { offset, found: 'yes' } : { offset: offset + 1, found: 'no' }
  }
  const child = parseHeader(bytes, offset + header.headerBytes)
  if (child === 'short' && bytes.length - offset < 2 * MAX_HEADER_BYTES)
    return { offset, found: 'short' }
  const isCluster = child !== 'short' && child !== 'broken' && FIRST_IN_CLUSTER.has(child.id)
  return isCluster ? { offset, found: 'yes' } : { offset: offset + 1, found: 'no' }
}

// The identity of a recording: a hash of its size, its index and its bytes or samples of them,
// never of its name or time.
import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { fillExactly, readExactly } from '../../storage/recordings/read-exactly.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import type { MediaIndex } from '../media-index.ts'

/** Up to this size all bytes are hashed, in less time than opening the file takes on a disk. */
export const MAX_WHOLE_BYTES = 16 * 1024 * 1024
const CHUNK_BYTES = 256 * 1024
const EDGE_BYTES = 64 * 1024
const SAMPLE_BYTES = 4 * 1024
const SAMPLES = 32

export interface Identity {
  /** Equal on every machine with the same bytes: of a large object, also with the same version. */
  identity: string
  /** Files with this identity are equal. Otherwise they may differ between the samples. */
  isExact: boolean
}

/**
 * Hashes size, index, and all bytes of a small file. Of a larger one, hashes its version if that
 * identifies the bytes, else the first and last 64 KiB and 32 samples between them, which is fast
 * for a recording of any length.
 */
export async function readIdentity(file: OpenFile, index: MediaIndex): Promise<Identity> {
  const { sizeBytes, version, isImmutable = false } = file.stat
  const isSmall = sizeBytes <= MAX_WHOLE_BYTES
  const hash = createHash('sha256').update(`${sizeBytes}\n${planFacts(index)}\n`)
  if (isSmall) await hashWhole(file, hash)
  else if (isImmutable) hash.update(version)
  else await hashSamples(file, hash)
  return { identity: hash.digest('base64url'), isExact: isSmall || isImmutable }
}

/** All of the index that segments are made from, as text that equal indexes share. */
function planFacts({ tracks, subtitles, splitPoints, source }: MediaIndex): string {
  return JSON.stringify(canonical([tracks, subtitles, splitPoints, source]))
}

/** Not a replacer of JSON: a Buffer converts itself before one sees it, a Uint8Array does not. */
function canonical(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    return createHash('sha256').update(bytes).digest('base64url')
  }
  if (Array.isArray(value)) return value.map(canonical)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, canonical(member)]))
}

async function hashWhole(file: OpenFile, hash: Hash): Promise<void> {
  const { sizeBytes } = file.stat
  const memory = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, sizeBytes))
  for (let position = 0; position < sizeBytes; position += CHUNK_BYTES) {
    const chunk = memory.subarray(0, sizeBytes - position)
    await fillExactly(file, chunk, position)
    hash.update(chunk)
  }
}

async function hashSamples(file: OpenFile, hash: Hash): Promise<void> {
  // Concurrent, because many small reads take a disk little longer than a few.
  const samples = await Promise.all(
    sampleRanges(file.stat.sizeBytes).map((range) =>
      readExactly(file, range.position, range.length),
    ),
  )
  for (const sample of samples) hash.update(sample)
}

/** Hash of a byte range; undefined if the file is too short. */
export async function readRangeHash(
  file: OpenFile,
  { offset, length }: { offset: number; length: number },
): Promise<string | undefined> {
  const buffer = Buffer.alloc(length)
  const count = await file.read(buffer, offset)
  return count < length ? undefined : createHash('sha256').update(buffer).digest('base64url')
}

interface Range {
  position: number
  length: number
}

function sampleRanges(sizeBytes: number): Range[] {
  const middle = sizeBytes - 2 * EDGE_BYTES
  const step = Math.floor((middle - SAMPLE_BYTES) / (SAMPLES - 1))
  return [
    { position: 0, length: EDGE_BYTES },
    ...Array.from({ length: SAMPLES }, (_, i) => ({
      position: EDGE_BYTES + i * step,
      length: SAMPLE_BYTES,
    })),
    { position: sizeBytes - EDGE_BYTES, length: EDGE_BYTES },
  ]
}

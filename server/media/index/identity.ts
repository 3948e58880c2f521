// The identity of a recording: a hash of its size and of samples of its bytes, never of its name or
// time.
import { createHash } from 'node:crypto'
import { readExactly } from '../../storage/read-exactly.ts'
import type { OpenFile } from '../../storage/storage.ts'

const EDGE_BYTES = 64 * 1024
const SAMPLE_BYTES = 4 * 1024
const SAMPLES = 32

/**
 * Hashes the size, the first and last 64 KiB, and 32 samples between them. Equal on every machine
 * with the same bytes, and fast for a recording of any length.
 */
export async function readIdentity(file: OpenFile): Promise<string> {
  const { sizeBytes } = file.stat
  const hash = createHash('sha256').update(`${sizeBytes}\n`)
  // Concurrent, because many small reads take a disk little longer than a few.
  const samples = await Promise.all(
    identityRanges(sizeBytes).map(({ position, length }) => readExactly(file, position, length)),
  )
  for (const sample of samples) hash.update(sample)
  return hash.digest('base64url')
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

function identityRanges(sizeBytes: number): Range[] {
  const middle = sizeBytes - 2 * EDGE_BYTES
  if (middle <= SAMPLES * SAMPLE_BYTES) return wholeFile(sizeBytes)
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

function wholeFile(sizeBytes: number): Range[] {
  return sizeBytes === 0 ? [] : [{ position: 0, length: sizeBytes }]
}

// What tells one recording from another: a hash over its size and samples of its bytes, never its name or time.
import { createHash } from 'node:crypto'
import { readExactly } from '../../storage/read-exactly.ts'
import type { OpenFile } from '../../storage/storage.ts'

const EDGE_BYTES = 64 * 1024
const SAMPLE_BYTES = 4 * 1024
const SAMPLES = 32

/**
 * Hash of the recording's size, its first and last 64 KiB and 32 samples between them: equal on every machine that
 * has the same bytes, and read in a moment from a recording of any length.
 */
export async function readIdentity(file: OpenFile): Promise<string> {
  const { sizeBytes } = file.stat
  const hash = createHash('sha256').update(`${sizeBytes}\n`)
  // All at once: a disk answers many small reads in the time of a few.
  const samples = await Promise.all(
    identityRanges(sizeBytes).map(({ position, length }) => readExactly(file, position, length)),
  )
  for (const sample of samples) hash.update(sample)
  return hash.digest('base64url')
}

/** Hash of some of a file's bytes; undefined where it does not reach so far. */
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

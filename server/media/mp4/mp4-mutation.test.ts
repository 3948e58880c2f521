// The MP4 reader on corrupt files: it returns or throws AppError, reads only inside the file, and
// never hangs.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { watchCpu } from '../../../test/support/cpu-time.ts'
import { rangesOf } from '../../../test/support/verify/mp4-samples.ts'
import { isAppError } from '../../base/errors.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { createMp4Reader } from './mp4-reader.ts'

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures/media/', import.meta.url))
const MUTATIONS = 300
/** Of processor time, far above what any copy takes. */
const MAX_MS = 2000

const reader = createMp4Reader()
const { signal } = new AbortController()

describe.each([
  'mp4-h264-aac-editlist-video-starts-1s.mp4',
  'mov-h264-aac-rotated90-audio-first.mov',
])('corrupt copies of %s', (name) => {
  it('are read or refused, within the file and in time', async () => {
    const original = await readFile(FIXTURES + name)
    const random = createRandom(20_260_131)
    const outcomes = { read: 0, refused: 0 }
    let slowestMs = 0
    for (let round = 0; round < MUTATIONS; round += 1) {
      const bytes = mutate(original, random)
      const cpuMs = watchCpu()
      outcomes[await readEverything(guard(bytesFile(bytes)))] += 1
      slowestMs = Math.max(slowestMs, cpuMs())
    }
    expect(slowestMs).toBeLessThan(MAX_MS)
    expect(outcomes.read).toBeGreaterThan(10)
    expect(outcomes.refused).toBeGreaterThan(10)
  })
})

/** One to four changed bytes in the moov box, or a truncated file. */
function mutate(original: Buffer, random: (below: number) => number): Buffer {
  const bytes = Buffer.from(original)
  const start = bytes.indexOf('moov')
  const size = bytes.readUInt32BE(start - 4)
  const wrong = 1 + random(4)
  for (let count = 0; count < wrong; count += 1) {
    const value = [0, 1, 0x7f, 0x80, 0xff, random(256)][random(6)] ?? 0
    bytes[start - 4 + random(size)] = value
  }
  return random(10) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes
}

async function readEverything(file: OpenFile): Promise<'read' | 'refused'> {
  try {
    const index = await reader.index(file, signal)
    for (const range of rangesOf(index, 3).slice(0, 20)) {
      const content = await reader.readSegment(file, index, range)
      for (const run of content.kind === 'samples' ? content.runs : []) {
        expect(run.firstDecodeTicks).toBeGreaterThanOrEqual(0)
        const ends = (run.offsets ?? Float64Array.of(NaN)).map(
          (offset, at) => offset + (run.sizes[at] ?? NaN),
        )
        expect(ends.every((end) => end <= file.stat.sizeBytes)).toBe(true)
      }
      await reader.readKeyFrame(file, index, range.from)
    }
    return 'read'
  } catch (error) {
    if (isAppError(error, 'unplayable', 'failed')) return 'refused'
    throw error
  }
}

/** Makes reads outside of the file fail with an error that no reader catches. */
function guard(file: OpenFile): OpenFile {
  return {
    ...file,
    read: (buffer, position) => {
      const isInside = position >= 0 && position + buffer.length <= file.stat.sizeBytes
      if (!isInside) throw new RangeError(`read of ${buffer.length} bytes at ${position}`)
      return file.read(buffer, position)
    },
  }
}

/** Pseudo-random numbers, equal on every run (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d_2b_79_f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) % below
  }
}

// Asks all that the program asks of a recording, and holds what comes back against what must be true of any.
import assert from 'node:assert/strict'
import { isAppError } from '../../server/errors.ts'
import type { MediaIndex } from '../../server/media/media-index.ts'
import type { Part, SampleRun } from '../../server/media/media-reader.ts'
import { createMediaReaders } from '../../server/media/readers.ts'
import type { OpenFile } from '../../server/storage/storage.ts'
import { bytesFile } from './bytes-file.ts'

/** Segments that are read of one recording: its first ones, some in the middle, its last. */
const SEGMENTS_READ = 6
const KEY_FRAMES_READ = 3
/** Cuts of one segment. */
const CUTS_PER_SEGMENT = 4

const readers = createMediaReaders()

/**
 * Indexes the bytes as a recording and reads from it. `refused`: the reader said with an AppError why it cannot.
 * Rejects for any other failure, for an index or segment that cannot be true, and for a read outside of the file.
 */
export async function exerciseRecording(bytes: Uint8Array): Promise<'read' | 'refused'> {
  const file = guarded(bytesFile(bytes))
  try {
    const reader = await readers.forFile(file)
    const index = await reader.index(file, new AbortController().signal)
    checkIndex(index)
    const cuts = index.cuts.startTicks.length
    for (const from of placesOf(cuts, SEGMENTS_READ)) {
      const range = { from, to: Math.min(from + CUTS_PER_SEGMENT, cuts) }
      reader.initTracks(index, from)
      await ignoreRefusal(async () => {
        const content = await reader.readSegment(file, index, range)
        if (content.kind === 'ts') checkParts(content.parts, bytes.length)
        else for (const run of content.runs) checkRun(run, bytes.length)
      })
    }
    for (const cut of placesOf(cuts, KEY_FRAMES_READ)) {
      await ignoreRefusal(() => reader.readKeyFrame(file, index, cut))
    }
    return 'read'
  } catch (error) {
    if (isAppError(error, 'unplayable', 'failed')) return 'refused'
    throw error
  }
}

/** One damaged segment harms no other. */
async function ignoreRefusal(read: () => Promise<unknown>): Promise<void> {
  try {
    await read()
  } catch (error) {
    if (!isAppError(error, 'unplayable', 'failed')) throw error
  }
}

function placesOf(count: number, wanted: number): number[] {
  const places = Array.from({ length: Math.min(count, wanted) }, (_, i) =>
    Math.round((i * (count - 1)) / Math.max(1, Math.min(count, wanted) - 1)),
  )
  return [...new Set(places)]
}

function checkIndex({ tracks, cuts }: MediaIndex): void {
  assert(tracks.length > 0, 'an index without tracks')
  assert.equal(cuts.flags.length, cuts.startTicks.length, 'as many flags as cuts')
  assert.equal(cuts.startTicks[0], 0, 'the first cut is at the start')
  assert(cuts.timescale > 0, 'a timescale')
  cuts.startTicks.forEach((ticks, cut) => {
    const next = cuts.startTicks[cut + 1] ?? cuts.endTicks
    assert(Number.isFinite(next) && next >= ticks, `times grow at cut ${cut}: ${ticks}, ${next}`)
  })
}

function checkParts(parts: readonly Part[], sizeBytes: number): void {
  for (const part of parts) {
    if (part.kind === 'range') checkInside(part.offset, part.length, sizeBytes)
  }
}

function checkRun(run: SampleRun, sizeBytes: number): void {
  const count = run.sizes.length
  assert(count > 0, 'a run has samples')
  assert.equal(run.durations.length, count, 'as many durations as samples')
  assert(run.firstDecodeTicks >= 0, 'no decode time is negative')
  assert.notEqual(run.offsets === undefined, run.bytes === undefined, 'offsets or bytes')
  if (run.bytes !== undefined) {
    const total = run.sizes.reduce((sum, size) => sum + size, 0)
    assert.equal(run.bytes.length, total, 'the bytes are those of the samples')
  }
  run.offsets?.forEach((offset, i) => checkInside(offset, run.sizes[i] ?? NaN, sizeBytes))
}

function checkInside(offset: number, length: number, sizeBytes: number): void {
  const isInside = offset >= 0 && length >= 0 && offset + length <= sizeBytes
  assert(isInside, `${length} bytes at ${offset} of ${sizeBytes}`)
}

/** The file, with an error that no reader catches for reads from outside of it. */
function guarded(file: OpenFile): OpenFile {
  const check = (position: number): void => {
    if (position >= 0 && position <= file.stat.sizeBytes) return
    throw new RangeError(`a read at ${position} of ${file.stat.sizeBytes}`)
  }
  return {
    ...file,
    read: async (buffer, position) => {
      check(position)
      return file.read(buffer, position)
    },
    readv: async (buffers, position) => {
      check(position)
      return file.readv(buffers, position)
    },
  }
}

// Grows a recording while a reader indexes it, and compares every index with that of one scan.
import assert from 'node:assert/strict'
import { deserialize, serialize } from 'node:v8'
import { isAppError } from '../../../server/base/errors.ts'
import { SPLIT_DISCONTINUITY, type MediaIndex } from '../../../server/media/media-index.ts'
import type { MediaReader } from '../../../server/media/media-reader.ts'
import { bytesFile } from '../bytes-file.ts'

/** A reader, and the complete recording. */
export interface GrowingRecording {
  reader: MediaReader
  bytes: Uint8Array
}

/** Consecutive segments at the end of what is stable that are read at each size. */
const LAST_SEGMENTS = 3
/** Lists of an index, and of the sources of all containers, that never change where stable. */
const LISTS = new Set(
  'startTicks flags offsets tableCounters leadMs audioEnds clusterTicks'.split(' '),
)

/** An index of the first bytes; `previous` and the result are as loaded from a store. */
export async function indexPrefix(
  { reader, bytes }: GrowingRecording,
  sizeBytes: number,
  previous?: MediaIndex,
): Promise<MediaIndex> {
  const file = bytesFile(bytes.subarray(0, sizeBytes))
  const index = await reader.index(file, new AbortController().signal, stored(previous))
  assert.deepEqual(stored(index), index, 'a plain value')
  return stored(index)
}

/** A copy as loaded from a store. */
function stored<Index extends MediaIndex | undefined>(index: Index): Index {
  return deserialize(serialize(index))
}

/**
 * Indexes the recording at each size (ascending) from the previous index, and asserts what a
 * growing playlist needs: each index equals that of one scan; stable split points, the segments
 * between them and their init tracks are those of the complete recording. Skips sizes at which
 * nothing is playable yet. Returns the indexes.
 */
export async function checkGrowth(
  recording: GrowingRecording,
  sizes: readonly number[],
): Promise<MediaIndex[]> {
  const { length } = recording.bytes
  const whole = await unlessUnplayable(indexPrefix(recording, length))
  const indexes: MediaIndex[] = []
  let previous: MediaIndex | undefined
  for (const size of [...sizes, length]) {
    const atOnce = await unlessUnplayable(indexPrefix(recording, size))
    const growing = await unlessUnplayable(indexPrefix(recording, size, previous))
    assert.deepEqual(described(growing), described(atOnce), `at ${size} bytes`)
    if (growing === undefined) continue
    assert(stableOf(growing) >= stableOf(previous), 'stable split points never decrease')
    if (whole !== undefined) await checkStable(recording, growing, { size, whole })
    indexes.push(growing)
    previous = growing
  }
  return indexes
}

async function unlessUnplayable(reading: Promise<MediaIndex>): Promise<MediaIndex | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isAppError(error, 'unplayable')) return undefined
    throw error
  }
}

/**
 * What two indexes of the same bytes have in common. The source of fragmented MP4 also depends on
 * where fragments without decode times were first seen.
 */
function described(index: MediaIndex | undefined): unknown {
  return index?.source.container === 'fmp4' ? { ...index, source: undefined } : index
}

function stableOf(index: MediaIndex | undefined): number {
  return index?.growth?.stableSplitPoints ?? 0
}

/** Asserts that the complete recording preserves what is stable in its first `size` bytes. */
export async function checkStable(
  { reader, bytes }: GrowingRecording,
  early: MediaIndex,
  { size, whole }: { size: number; whole: MediaIndex },
): Promise<void> {
  const stable = stableOf(early)
  if (stable === 0) return
  assert.equal(early.splitPoints.timescale, whole.splitPoints.timescale)
  assert.deepEqual(listsUpTo(early, stable), listsUpTo(whole, stable), `lists at ${size} bytes`)
  if (stable < 2) return
  assert.deepEqual(early.growth?.stableRange, whole.growth?.stableRange)
  assert((early.growth?.stableRange.length ?? 0) > 0, 'bytes that identify the recording')
  const file = bytesFile(bytes.subarray(0, size))
  const last = stable - 1
  const ranges = Array.from({ length: Math.min(LAST_SEGMENTS, last) }, (_, i) => {
    return { from: last - i - 1, to: last - i }
  })
  const isLong = !early.splitPoints.flags
    .slice(1, last)
    .some((flags) => flags & SPLIT_DISCONTINUITY)
  if (isLong) ranges.push({ from: 0, to: 1 }, { from: Math.floor(last / 2), to: last })
  const asSamples = [reader.asSamples?.(early), reader.asSamples?.(whole)] as const
  for (const [before, after] of [[early, whole] as const, asSamples])
    for (const range of ranges.filter(({ to }) => to < stableOf(before))) {
      if (before === undefined || after === undefined) continue
      const places = `split points ${range.from} to ${range.to} at ${size} bytes`
      assert.deepEqual(
        await reader.readSegment(file, before, range),
        await reader.readSegment(bytesFile(bytes), after, range),
        places,
      )
      assert.deepEqual(reader.initTracks(before, range.from), reader.initTracks(after, range.from))
    }
}

/** The first entries of all lists that describe the segments between split points. */
function listsUpTo({ splitPoints, source }: MediaIndex, count: number): unknown {
  const own: object = { ...source, ...('splitPoints' in source && source.splitPoints) }
  return Object.entries({ ...splitPoints, ...own }).flatMap(([name, list]) =>
    LISTS.has(name) && typeof list !== 'number' ? [[name, Array.from(list).slice(0, count)]] : [],
  )
}

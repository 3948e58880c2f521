// Grows a recording while a reader indexes it, and compares every index with the last one.
import assert from 'node:assert/strict'
import type { MediaIndex } from '../../../server/media/media-index.ts'
import type { MediaReader, SegmentContent } from '../../../server/media/media-reader.ts'
import { bytesFile } from '../bytes-file.ts'

/** A reader, and the complete recording. */
export interface GrowingRecording {
  reader: MediaReader
  bytes: Uint8Array
}

/** An index of the first bytes; `previous` as loaded from a store. */
export async function indexPrefix(
  { reader, bytes }: GrowingRecording,
  sizeBytes: number,
  previous?: MediaIndex,
): Promise<MediaIndex> {
  const file = bytesFile(bytes.subarray(0, sizeBytes))
  const { signal } = new AbortController()
  return structuredClone(await reader.index(file, signal, structuredClone(previous)))
}

/**
 * Indexes the recording at each size (ascending) from the previous index, and asserts what a
 * growing playlist needs: stable split points and the segments between them are those of the
 * complete index, and so is the last index. Skips sizes at which nothing is playable yet. Returns
 * the indexes.
 */
export async function checkGrowth(
  recording: GrowingRecording,
  sizes: readonly number[],
): Promise<MediaIndex[]> {
  const { bytes, reader } = recording
  const whole = await indexPrefix(recording, bytes.length)
  const indexes: MediaIndex[] = []
  let previous: MediaIndex | undefined
  for (const size of [...sizes, bytes.length]) {
    const atOnce = await indexPrefix(recording, size).catch(() => undefined)
    const growing = await indexPrefix(recording, size, previous).catch(() => undefined)
    assert.deepEqual(describe(growing), describe(atOnce), `at ${size} bytes`)
    if (growing === undefined) continue
    const file = bytesFile(bytes.subarray(0, size))
    const stable = growing.growth?.stableSplitPoints ?? 0
    assert.ok(
      stable >= (previous?.growth?.stableSplitPoints ?? 0),
      'stable split points never decrease',
    )
    assertSameSplitPoints(growing, whole, stable)
    for (let to = Math.max(1, stable - 3); to < stable; to += 1) {
      for (const from of [to - 1, Math.floor(to / 2)]) {
        const range = { from, to }
        const early = await reader.readSegment(file, growing, range)
        const late = await reader.readSegment(bytesFile(bytes), whole, range)
        assert.deepEqual(early, late, `cuts ${from} to ${to} at ${size} bytes`)
      }
    }
    indexes.push(growing)
    previous = growing
  }
  assert.deepEqual(describe(previous), describe(whole))
  return indexes
}

function describe(index: MediaIndex | undefined) {
  if (index === undefined) return undefined
  const { tracks, splitPoints, growth } = index
  return { tracks, splitPoints, growth }
}

function assertSameSplitPoints(growing: MediaIndex, whole: MediaIndex, stable: number): void {
  const { splitPoints, growth } = growing
  if (stable === 0) return
  assert.equal(splitPoints.timescale, whole.splitPoints.timescale)
  assert.deepEqual(
    splitPoints.startTicks.slice(0, stable),
    whole.splitPoints.startTicks.slice(0, stable),
  )
  assert.deepEqual(splitPoints.flags.slice(0, stable), whole.splitPoints.flags.slice(0, stable))
  if (stable < 2) return
  assert.deepEqual(growth?.stableRange, whole.growth?.stableRange)
  assert.ok((growth?.stableRange.length ?? 0) > 0)
}

/** All samples of a segment's content, with their distinguishing fields. */
export function samplesOf(
  content: SegmentContent,
  kind: 'video' | 'audio',
): { offset: number; seconds: number; isKey: boolean }[] {
  if (content.kind !== 'samples') return []
  return content.runs
    .filter((run) => run.kind === kind)
    .flatMap((run) => {
      let ticks = run.firstDecodeTicks
      return Array.from(run.sizes, (_, at) => {
        const seconds = (ticks + (run.compositionOffsets?.[at] ?? 0)) / run.timescale
        ticks += run.durations[at] ?? 0
        return { offset: run.offsets?.[at] ?? NaN, seconds, isKey: run.syncs?.[at] !== 0 }
      })
    })
}

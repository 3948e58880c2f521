// Parts of a run of samples. Pure.
import type { SampleRun } from '../../../media/media-reader.ts'

/** Samples `from` (included) to `to` (excluded). */
export function sliceRun(run: SampleRun, from: number, to: number): SampleRun {
  const { sizes, durations, offsets, bytes, prefix, compositionOffsets, syncs, ...rest } = run
  const startBytes = sumOf(sizes.subarray(0, from))
  const lengthBytes = sumOf(sizes.subarray(from, to))
  return {
    ...rest,
    firstDecodeTicks: run.firstDecodeTicks + sumOf(durations.subarray(0, from)),
    sizes: sizes.subarray(from, to),
    durations: durations.subarray(from, to),
    ...(offsets && { offsets: offsets.subarray(from, to) }),
    ...(prefix && from === 0 && { prefix }),
    ...(bytes && { bytes: bytes.subarray(startBytes, startBytes + lengthBytes) }),
    ...(compositionOffsets && { compositionOffsets: compositionOffsets.subarray(from, to) }),
    ...(syncs && { syncs: syncs.subarray(from, to) }),
  }
}

/** Consecutive parts of all runs, with at most `most` samples of each. */
export function sliceRuns(runs: readonly SampleRun[], most: number): (readonly SampleRun[])[] {
  const longest = Math.max(0, ...runs.map(({ sizes }) => sizes.length))
  if (longest <= most) return [runs]
  return Array.from({ length: Math.ceil(longest / most) }, (_, at) =>
    runs
      .filter(({ sizes }) => sizes.length > at * most)
      .map((run) => sliceRun(run, at * most, (at + 1) * most)),
  )
}

export function sumOf(values: Uint32Array): number {
  return values.reduce((sum, value) => sum + value, 0)
}

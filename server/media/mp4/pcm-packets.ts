// Joins PCM samples, which are tiny, to packets.
import type { SampleRun } from '../media-reader.ts'

/** Merges up to `most` contiguous samples into one. */
export function joinPcmSamples(run: SampleRun, most: number): SampleRun {
  const starts: number[] = []
  let expected = NaN
  run.sizes.forEach((size, at) => {
    const offset = run.offsets?.[at] ?? 0
    const isFull = at - (starts.at(-1) ?? 0) >= most
    if (offset !== expected || isFull) starts.push(at)
    expected = offset + size
  })
  const sumUp = (values: Uint32Array) =>
    Uint32Array.from(starts, (from, i) =>
      values.subarray(from, starts[i + 1] ?? values.length).reduce((sum, value) => sum + value, 0),
    )
  const { kind, timescale, firstDecodeTicks } = run
  return {
    kind,
    timescale,
    firstDecodeTicks,
    sizes: sumUp(run.sizes),
    offsets: Float64Array.from(starts, (at) => run.offsets?.[at] ?? 0),
    durations: sumUp(run.durations),
  }
}

// Builds sample runs for containers without sample tables: converts times to durations and
// composition offsets.
import type { SampleRun } from './media-reader.ts'

/** One sample; times are ticks of the run on the session timeline. */
export interface Sample {
  offset: number
  sizeBytes: number
  decodeTicks: number
  presentationTicks: number
  isKey: boolean
}

/** Largest signed composition offset of a trun box (ISO/IEC 14496-12 8.8.8). */
const MAX_OFFSET_TICKS = 2 ** 31 - 1

export interface RunOptions {
  kind: 'video' | 'audio'
  timescale: number
  /**
   * Decode time of the next sample, or end of the last one; by default the last sample gets the
   * duration of the one before it.
   */
  nextDecodeTicks?: number
}

/**
 * A run of samples in decode order; undefined for no samples. Decode times become non-negative and
 * strictly increasing, and a presentation time earlier than the decode time moves to it.
 */
export function makeSampleRun(
  samples: readonly Sample[],
  { kind, timescale, nextDecodeTicks }: RunOptions,
): SampleRun | undefined {
  const count = samples.length
  if (count === 0) return undefined
  const decode = risingDecodeTimes(samples)
  const first = decode[0] ?? 0
  const durations = new Uint32Array(count)
  for (let at = 0; at + 1 < count; at += 1)
    durations[at] = (decode[at + 1] ?? 0) - (decode[at] ?? 0)
  const last = decode[count - 1] ?? 0
  const before = count > 1 ? (durations[count - 2] ?? 1) : 1
  durations[count - 1] = Math.max(
    1,
    nextDecodeTicks === undefined ? before : nextDecodeTicks - last,
  )
  // Offsets outside this range occur only with corrupt timestamps.
  const compositionOffsets = Int32Array.from(samples, ({ presentationTicks }, at) =>
    Math.min(Math.max(0, presentationTicks - (decode[at] ?? 0)), MAX_OFFSET_TICKS),
  )
  return {
    kind,
    timescale,
    firstDecodeTicks: first,
    sizes: Uint32Array.from(samples, ({ sizeBytes }) => sizeBytes),
    offsets: Float64Array.from(samples, ({ offset }) => offset),
    durations,
    ...(compositionOffsets.some((offset) => offset !== 0) && { compositionOffsets }),
    ...(kind === 'video' && { syncs: Uint8Array.from(samples, ({ isKey }) => (isKey ? 1 : 0)) }),
  }
}

function risingDecodeTimes(samples: readonly Sample[]): Float64Array {
  const decode = new Float64Array(samples.length)
  let earliest = 0
  samples.forEach(({ decodeTicks }, at) => {
    decode[at] = Math.max(decodeTicks, earliest)
    earliest = (decode[at] ?? 0) + 1
  })
  return decode
}

/** The run with parameter sets before its first sample. */
export function withPrefix(run: SampleRun, prefix: Uint8Array): SampleRun {
  if (prefix.length === 0) return run
  const sizes = run.sizes.slice()
  sizes[0] = (sizes[0] ?? 0) + prefix.length
  return { ...run, sizes, prefix }
}

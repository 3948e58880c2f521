// Makes runs of samples from what containers without sample tables say of them: times in, durations and offsets out.
import type { SampleRun } from './media-reader.ts'

/** One sample, its times on the session's timeline in the run's ticks. */
export interface Sample {
  /** Position in the recording. */
  offset: number
  sizeBytes: number
  decodeTicks: number
  presentationTicks: number
  isKey: boolean
}

/** What a trun box can say (ISO/IEC 14496-12 8.8.8), signed. */
const MAX_OFFSET_TICKS = 2 ** 31 - 1

export interface RunOptions {
  kind: 'video' | 'audio'
  timescale: number
  /** Decode time of the sample behind the last one, or where the last one ends; undefined: it lasts as long as the one before. */
  nextDecodeTicks?: number
}

/**
 * A run of samples in decode order; undefined where there are none. Decode times that do not grow are pushed apart by
 * one tick, and none is negative; what is shown when stays, but that nothing is shown before it is decoded.
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
  // Only damaged times would be shown before they are decoded, or so late.
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

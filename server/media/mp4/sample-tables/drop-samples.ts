// Leaves unreadable samples out of a run.
import type { SampleRun } from '../../media-reader.ts'

const MAX_TICKS = 2 ** 32 - 1

/**
 * The run without these samples: the sample before each takes its time. Undefined if none is left.
 */
export function dropSamples(
  run: SampleRun,
  isDropped: (sample: number) => boolean,
): SampleRun | undefined {
  const kept: number[] = []
  const durations: number[] = []
  let { firstDecodeTicks } = run
  run.durations.forEach((ticks, at) => {
    const last = durations.length - 1
    if (!isDropped(at)) {
      kept.push(at)
      durations.push(ticks)
    } else if (last < 0) firstDecodeTicks += ticks
    else durations[last] = Math.min((durations[last] ?? 0) + ticks, MAX_TICKS)
  })
  if (kept.length === 0) return undefined
  if (kept.length === run.sizes.length) return run
  const { sizes, offsets, compositionOffsets, syncs } = run
  return {
    ...run,
    firstDecodeTicks,
    sizes: Uint32Array.from(kept, (at) => sizes[at] ?? 0),
    durations: Uint32Array.from(durations),
    ...(offsets && { offsets: Float64Array.from(kept, (at) => offsets[at] ?? 0) }),
    ...(compositionOffsets && {
      compositionOffsets: Int32Array.from(kept, (at) => compositionOffsets[at] ?? 0),
    }),
    ...(syncs && { syncs: Uint8Array.from(kept, (at) => syncs[at] ?? 0) }),
  }
}

// What a segment of a track costs, as a number of samples.
import type { SplitPointRange } from '../../media-index.ts'
import { PCM_SAMPLES_PER_COST } from '../../timeline/segment-limits.ts'
import type { CursorTable, Mp4Track } from '../mp4-source.ts'

/** Samples between two split points; PCM costs less if its tables have few entries. */
export function segmentCost(
  { cursors, samples, packetSamples }: Pick<Mp4Track, 'cursors' | 'samples' | 'packetSamples'>,
  { from, to }: SplitPointRange,
): number {
  const end = cursors.samples[to] ?? samples.sampleCount
  const count = end - (cursors.samples[from] ?? samples.sampleCount)
  if (packetSamples === undefined) return count
  return Math.ceil(count / PCM_SAMPLES_PER_COST) + tableRuns(cursors, { from, to })
}

function tableRuns({ durationRuns, offsetRuns }: CursorTable, { from, to }: SplitPointRange) {
  const last = durationRuns.length - 1
  const between = (runs: Uint32Array | undefined) =>
    (runs?.[Math.min(to, last)] ?? 0) - (runs?.[from] ?? 0)
  return between(durationRuns) + between(offsetRuns)
}

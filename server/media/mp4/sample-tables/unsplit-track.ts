// A track whose samples are all read at once, on the file's own clock: one split point, no shifts.
import type { Mp4Track, SampleMap } from '../mp4-source.ts'

/**
 * `readSampleRun` with split points 0 to 1 reads the whole track. The caller bounds the number of
 * samples.
 */
export function unsplitTrack(
  samples: SampleMap,
  { kind, timescale }: Pick<Mp4Track, 'kind' | 'timescale'>,
): Mp4Track {
  const zero = () => Uint32Array.of(0)
  return {
    kind,
    timescale,
    tickScale: 1,
    decodeShiftTicks: 0,
    compositionShiftTicks: 0,
    samples,
    cursors: {
      samples: zero(),
      decodeTicks: Float64Array.of(0),
      durationRuns: zero(),
      durationUsed: zero(),
      offsetRuns: zero(),
      offsetUsed: zero(),
      ...(samples.tables.syncs && { syncs: zero() }),
    },
    descriptions: [],
    width: 0,
    height: 0,
  }
}

// Memory that a planned recording takes, for caches with a limit in bytes.
import type { PlannedRecording } from './planned-recording.ts'

/** Measured: an index without split points, the key, names and objects. */
const BASE_BYTES = 6000
/** As in the largest kind of index. */
const SPLIT_POINT_BYTES = 64
/** An object with five numbers. */
const SEGMENT_BYTES = 100
const CUE_BYTES = 100

/** Estimate, with the index: the recording keeps it alive after the index store has evicted it. */
export function plannedBytes({ index, plan }: PlannedRecording): number {
  const { splitPoints, subtitles = [] } = index
  const cues = subtitles.reduce(
    (sum, track) =>
      track.cues.reduce((bytes, { text }) => bytes + CUE_BYTES + 2 * text.length, sum),
    0,
  )
  const segments = plan.segments.length * SEGMENT_BYTES
  return BASE_BYTES + splitPoints.flags.length * SPLIT_POINT_BYTES + segments + cues
}

// A recording with all that its segments are made from, and the memory that it takes.
import { isAppError } from '../../../base/errors.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { MarkedBytes } from '../../../media/index/growth-mark.ts'
import type { MediaIndex } from '../../../media/media-index.ts'
import type { MediaReader } from '../../../media/media-reader.ts'
import type { FileStat } from '../../../storage/recordings/storage.ts'
import type { RenditionCounts } from '../playlist/renditions.ts'
import type { SegmentPlan } from '../playlist/segment-plan.ts'

/** Measured: an index without split points, the key, names and objects. */
const BASE_BYTES = 6000
/** As in the largest kind of index. */
const SPLIT_POINT_BYTES = 64
/** An object with five numbers. */
const SEGMENT_BYTES = 100
const CUE_BYTES = 100

/** An indexed recording with its segment plan. */
export interface PlannedRecording {
  session: SessionReference
  /** Identifies its path and bytes; of a growing recording those that do not change. */
  identity: string
  /** False if the identity could not be recorded: later, another one may apply. */
  isLasting?: boolean
  index: MediaIndex
  reader: MediaReader
  plan: SegmentPlan
  /** Of the file that was indexed. */
  stat: FileStat
  /** Present if the recording is growing, or was ever listed while it was. */
  growth?: RecordingGrowth | undefined
}

/** The index of the samples of a recording in MPEG-TS; undefined if it cannot be sent as fMP4. */
export function samplesIndex({
  reader,
  index,
}: Pick<PlannedRecording, 'reader' | 'index'>): MediaIndex | undefined {
  try {
    return reader.asSamples?.(index)
  } catch (error) {
    // Its segments are too large for the memory.
    if (isAppError(error, 'unplayable')) return undefined
    throw error
  }
}

export interface RecordingGrowth {
  /** It may have been appended to since. */
  isGrowing: boolean
  /** The last bytes of what may be listed. */
  tail: MarkedBytes
  /** Renditions when it was first listed: a playlist never changes its kind. */
  counts: RenditionCounts
  /** Of a recording that is sent as MPEG-TS: what may be listed of its samples. */
  samplesPlan?: SegmentPlan | undefined
}

/**
 * Estimate of its memory, with the index: the recording keeps it alive after the index store has
 * evicted it.
 */
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

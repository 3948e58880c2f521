// A recording with all that its segments are made from.
import type { SessionReference } from '../../../../shared/paths.ts'
import type { MarkedBytes } from '../../../media/index/growth-mark.ts'
import type { MediaIndex } from '../../../media/media-index.ts'
import type { MediaReader } from '../../../media/media-reader.ts'
import type { FileStat } from '../../../storage/recordings/storage.ts'
import type { RenditionCounts } from '../playlist/renditions.ts'
import type { SegmentPlan } from '../playlist/segment-plan.ts'

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

export interface RecordingGrowth {
  /** It may have been appended to since. */
  isGrowing: boolean
  /** The last bytes of what may be listed. */
  tail: MarkedBytes
  /** Renditions when it was first listed: a playlist never changes its kind. */
  counts: RenditionCounts
}

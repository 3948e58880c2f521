// A recording that can be presented: its index, its reader, and how it is cut.
import type { SessionReference } from '../../../shared/paths.ts'
import type { MarkedBytes } from '../../media/index/growth-mark.ts'
import type { MediaIndex } from '../../media/media-index.ts'
import type { MediaReader } from '../../media/media-reader.ts'
import type { FileStat } from '../../storage/storage.ts'
import type { RenditionCounts } from './renditions.ts'
import type { SegmentPlan } from './segment-plan.ts'

/** A recording that was indexed, and whose bytes may be read. */
export interface IndexedRecording {
  session: SessionReference
  identity: string
  index: MediaIndex
  reader: MediaReader
  plan: SegmentPlan
  /** Of the file that was indexed. */
  stat: FileStat
  /** Of a recording that is listed while it grows, or once was. */
  growth?: ListedGrowth | undefined
}

/** How a recording is listed that grows, or once did. Its identity stands for what does not change then. */
export interface ListedGrowth {
  /** The last bytes that may be listed. */
  tail: MarkedBytes
  /** What it was offered with when it was first listed: a playlist never changes its kind. */
  counts: RenditionCounts
}

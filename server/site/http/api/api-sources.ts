// What the endpoints of the API read.
import type { PublicConfig } from '../../../../shared/contract.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { Admission } from '../../../base/admission/limits.ts'
import type { Storyboards } from '../../../decode/storyboards/storyboards.ts'
import type { Thumbnails } from '../../../decode/thumbnails/thumbnails.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import type { SegmentSender } from '../../../stream/delivery/segment-sender.ts'
import type { SessionOpener } from '../../../stream/hls/session/session-opener.ts'
import type { CatalogVersions } from '../site/catalog-versions.ts'
import type { SessionChats } from './session-chats.ts'
import type { SessionDetails } from './session-details.ts'
import type { SessionStoryboards } from './session-storyboards.ts'
import type { StreamerDetails } from './streamer-details.ts'
import type { ThumbnailSources } from './thumbnail-sources.ts'

export interface ApiSources {
  catalog: Catalog
  versions: CatalogVersions
  sessions: SessionOpener
  sender: SegmentSender
  admission: Admission
  thumbnails: Thumbnails
  storyboards: Storyboards
  sources: ThumbnailSources
  sessionDetails: SessionDetails
  sessionStoryboards: SessionStoryboards
  /** Undefined: chats are not served. */
  sessionChats: SessionChats | undefined
  streamerDetails: StreamerDetails
  config: PublicConfig
  /** Whether the first scan of the library is complete. */
  isReady: () => boolean
  /** A visitor opens a session that is not inspected yet. */
  onRequested: (session: SessionReference) => void
}

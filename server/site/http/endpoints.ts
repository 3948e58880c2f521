// All endpoints of the site but the manifest and those of ads and analytics. A new one: a file as
// api/streamers.ts, and a line here.
import type { PublicConfig } from '../../../shared/contract.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import type { Admission } from '../../base/admission/limits.ts'
import type { Storyboards } from '../../decode/storyboards/storyboards.ts'
import type { Thumbnails } from '../../decode/thumbnails/thumbnails.ts'
import type { Catalog } from '../../library/catalog/catalog.ts'
import type { SegmentSender } from '../../stream/delivery/segment-sender.ts'
import type { AudioFiles } from '../../stream/hls/session/audio-files.ts'
import type { SessionOpener } from '../../stream/hls/session/session-opener.ts'
import { createAudioFileEndpoint, createFindEnclosure } from './api/audio-file.ts'
import { createAroundEndpoint } from './api/around.ts'
import { createChatEndpoints } from './api/chat.ts'
import { createConfigEndpoint } from './api/config.ts'
import { createDetailsEndpoint } from './api/details.ts'
import { createHealthEndpoints } from './api/health.ts'
import { createPlaylistEndpoint } from './api/playlist.ts'
import { createPlaylistFileEndpoint } from './api/playlist-file.ts'
import { createSessionEndpoint } from './api/session.ts'
import { createSessionsEndpoint } from './api/sessions.ts'
import { createStoryboardEndpoint, createStoryboardSheetEndpoint } from './api/storyboard.ts'
import { createStreamersEndpoint } from './api/streamers.ts'
import { createThumbnailEndpoints } from './api/thumbnail.ts'
import { createSiteFeedEndpoint, createStreamerFeedEndpoint } from './crawlers/feeds.ts'
import { createRobotsEndpoint, createSellerEndpoints } from './crawlers/robots.ts'
import { createSitemapEndpoints } from './crawlers/sitemap.ts'
import {
  createEmbedPage,
  createPlayerPage,
  createSessionsPage,
  createStreamersPage,
  createWatchPage,
} from './pages/page-endpoints.ts'
import { createOembedEndpoint } from './pages/oembed-endpoint.ts'
import type { PageOptions, PageSources } from './pages/page-sources.ts'
import type { Endpoint } from './responses/answer.ts'
import type { SessionChats } from './api/session-chats.ts'
import type { SessionDetails } from './api/session-details.ts'
import { SessionStoryboards } from './api/session-storyboards.ts'
import type { StreamerDetails } from './api/streamer-details.ts'
import type { ThumbnailSources } from './api/thumbnail-sources.ts'

/** What endpoints read. */
export interface EndpointSources extends PageOptions {
  catalog: Catalog
  sessions: SessionOpener
  sender: SegmentSender
  admission: Admission
  thumbnails: Thumbnails
  storyboards: Storyboards
  sources: ThumbnailSources
  sessionDetails: SessionDetails
  /** Undefined: chats are not served. */
  sessionChats: SessionChats | undefined
  streamerDetails: StreamerDetails
  config: PublicConfig
  /** Undefined unless feeds offer them. */
  audioFiles?: AudioFiles | undefined
  isReady: () => boolean
  /** A visitor opens a session that is not inspected yet. */
  onRequested: (session: SessionReference) => void
}

export function createEndpoints(options: EndpointSources, pages: PageSources): Endpoint[] {
  const sources = {
    ...options,
    versions: pages.versions,
    findEnclosure: options.audioFiles && createFindEnclosure(options.audioFiles),
    sessionStoryboards: new SessionStoryboards(options),
  }
  return [
    ...createHealthEndpoints(sources),
    createConfigEndpoint(sources),
    createStreamersEndpoint(sources),
    createSessionsEndpoint(sources),
    createSessionEndpoint(sources),
    createDetailsEndpoint(sources),
    createAroundEndpoint(sources),
    ...createChatEndpoints(sources),
    createPlaylistEndpoint(sources),
    createPlaylistFileEndpoint(sources),
    ...(options.audioFiles ? [createAudioFileEndpoint(sources, options.audioFiles)] : []),
    ...createThumbnailEndpoints(sources),
    createStoryboardEndpoint(sources),
    createStoryboardSheetEndpoint(sources),
    createRobotsEndpoint(sources),
    ...createSitemapEndpoints(sources),
    createSiteFeedEndpoint(sources),
    createStreamerFeedEndpoint(sources),
    ...createSellerEndpoints(sources.site),
    createStreamersPage(pages),
    createSessionsPage(pages),
    createPlayerPage(pages),
    createWatchPage(pages),
    createEmbedPage(pages),
    createOembedEndpoint(sources),
  ]
}

// All endpoints of the site but the manifest and those of ads and analytics. A new one: a file as
// api/streamers.ts, and a line here.
import type { AudioFiles } from '../../stream/hls/session/audio-files.ts'
import type { ApiSources } from './api/api-sources.ts'
import { createAudioFileEndpoint, createFindEnclosure } from './api/audio-file.ts'
import { createAroundEndpoint } from './api/around.ts'
import { createChatEndpoints } from './api/chat.ts'
import { createConfigEndpoint } from './api/config.ts'
import { createDetailsEndpoint } from './api/details.ts'
import { createHealthEndpoints } from './api/health.ts'
import { createOriginalFileEndpoint } from './api/original-file.ts'
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
import { SessionStoryboards } from './api/session-storyboards.ts'

/** What endpoints read. */
export interface EndpointSources
  extends Omit<PageOptions, 'config'>, Omit<ApiSources, 'versions' | 'sessionStoryboards'> {
  /** Undefined unless feeds offer them. */
  audioFiles?: AudioFiles | undefined
  /** Whether recordings are offered as they are. */
  offersOriginals: boolean
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
    ...(options.offersOriginals ? [createOriginalFileEndpoint(sources)] : []),
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

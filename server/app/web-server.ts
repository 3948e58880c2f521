// Creates the HTTP server of an open library, and starts listening.
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { analyticsConfigOf } from '../site/analytics/analytics-config.ts'
import { adUrlsOf } from '../site/ads/ads-config.ts'
import { openAdvertising } from '../site/ads/advertising.ts'
import { admitAll } from '../site/http/add-endpoints.ts'
import type { Config } from '../base/config/load-config.ts'
import { AppError, reasonOf } from '../base/errors.ts'
import { Chats } from '../stream/chat/chats.ts'
import { SegmentCache } from '../stream/delivery/segment-cache.ts'
import { SegmentSender } from '../stream/delivery/segment-sender.ts'
import { AudioFiles } from '../stream/hls/session/audio-files.ts'
import { readBuiltPage } from '../site/http/pages/built-page.ts'
import { createHttpServer } from '../site/http/http-server.ts'
import { SessionChats } from '../site/http/api/session-chats.ts'
import { SessionDetails } from '../site/http/api/session-details.ts'
import { belowBasePath, formatSiteUrl } from '../site/http/site/base-path.ts'
import type { FormatPath } from '../site/http/site/base-path.ts'
import { StreamerDetails } from '../site/http/api/streamer-details.ts'
import { loadEncryptBlocks } from '../stream/delivery/block-cipher.ts'
import { loadPageCache } from '../storage/recordings/page-cache.ts'
import { openActivity } from './activity.ts'
import type { Library, Serving } from './library.ts'
import { builtPageFolder, pageAssetsFolder } from './page-assets.ts'
import { limitRequests } from './requested-sessions.ts'
import type { OnRequested } from './requested-sessions.ts'
import { openThumbnails } from './thumbnails.ts'
import type { OpenThumbnails } from './thumbnails.ts'

/** A listening server. */
export interface WebServer {
  /** Its URL on this machine. */
  url: string
  /** Stops accepting connections, lets requests finish within a time limit, then closes. */
  close(): Promise<void>
}

export interface WebServerOptions extends Pick<
  Serving,
  'config' | 'library' | 'logger' | 'pacing' | 'networks'
> {
  isReady: () => boolean
  onRequested: OnRequested
}

/** Time limit for open requests at shutdown. */
const CLOSE_TIMEOUT_MS = 8000

/** @throws AppError `failed` if the page is not built or the address is not available */
export async function startWebServer(options: WebServerOptions): Promise<WebServer> {
  const { config, library, logger, pacing, networks, isReady, onRequested } = options
  const { decoder, close, ...images } = openThumbnails({ config, library, logger })
  const activity = openActivity({ config, library, logger })
  const { host, port, trustProxy, corsOrigins, publicUrl, basePath } = config.server
  const formatPath = belowBasePath(basePath)
  const { record } = activity
  const admitFiles = (scope: FastifyInstance): void => admitAll(scope, library.admission.assets)
  const advertising = await openAdvertising({ config, record, formatPath, admitFiles, log: logger })
  const { sender, segmentCache } = await createSender(options)
  const audioFiles = openAudioFiles(options)
  let url = formatUrl(host, port)
  const app = await createHttpServer({
    catalog: library.catalog,
    sessions: library.sessions,
    admission: library.admission,
    sender,
    audioFiles,
    offersOriginals: config.page.download,
    page: await readBuiltPage(builtPageFolder(), pageAssetsFolder(config)),
    ...images,
    ...createDetails({ library, config, logger, images, formatPath }),
    config: {
      ads: advertising.ads,
      analytics: analyticsConfigOf(config),
      site: { name: config.site.name, contactUrl: config.site.contactUrl },
    },
    site: { ...config.site, basePath },
    adUrls: adUrlsOf(config),
    logger,
    log: config.log,
    corsOrigins,
    trustProxy,
    pacing,
    isReady,
    onRequested: limitRequests(onRequested),
    publicUrl: () => formatSiteUrl(publicUrl ?? url, basePath),
    extensions: [activity.addRoute, advertising.addRoutes],
  })
  if (config.server.metrics !== undefined) {
    const { measureServer } = await import('./metrics/metrics.ts')
    measureServer(app, { library, decoder, sender, segmentCache, activity, pacing, networks })
  }
  await app.listen({ host, port }).catch((cause: unknown) => {
    throw cannotListen(url, cause)
  })
  const address = app.server.address()
  if (typeof address === 'object' && address !== null) url = formatUrl(host, address.port)
  return {
    url: url + basePath,
    close: async () => {
      const timer = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS)
      await app.close()
      clearTimeout(timer)
      close()
      await audioFiles?.close()
      await activity.close()
    },
  }
}

interface DetailsSources {
  library: Library
  config: Config
  logger: Logger
  images: Pick<OpenThumbnails, 'sources' | 'drawEmotes'>
  formatPath: FormatPath
}

function createDetails({ library, config, logger, images, formatPath }: DetailsSources) {
  const sessionChats = createSessionChats({ library, config, logger, images })
  const offersOriginals = config.page.download
  const details = { ...library, ...config.library, sessionChats, offersOriginals, formatPath }
  return {
    sessionChats,
    sessionDetails: new SessionDetails(details),
    streamerDetails: new StreamerDetails({ ...library, ...images, formatPath }),
  }
}

function openAudioFiles({ config, library, logger }: WebServerOptions): AudioFiles | undefined {
  if (!config.feeds.podcast) return undefined
  const folder = join(config.data, 'audio-tables')
  return new AudioFiles({ ...library, folder, shared: library.artifacts, log: logger })
}

async function createSender({ config, library }: WebServerOptions) {
  const segmentCache = await createSegmentCache(config)
  const { bytesInFlight } = library.admission
  const sender = new SegmentSender(bytesInFlight, await loadEncryptBlocks(), segmentCache)
  return { sender, segmentCache }
}

function createSessionChats({
  library,
  config,
  logger,
  images: { drawEmotes },
}: Omit<DetailsSources, 'formatPath'>): SessionChats | undefined {
  if (!config.chat) return undefined
  const { readChat, artifacts: shared } = library
  const { settleSeconds } = config.library
  const folder = join(config.data, 'chats')
  const chats = new Chats({ folder, shared, log: logger, readChat, drawEmotes, settleSeconds })
  return new SessionChats({ ...library, chats })
}

async function createSegmentCache({ hls }: Config): Promise<SegmentCache | undefined> {
  if (hls.cacheMegabytes === 0) return undefined
  const maxBytes = hls.cacheMegabytes * 1e6
  return new SegmentCache({ maxBytes, pageCache: await loadPageCache() })
}

function formatUrl(host: string, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

function cannotListen(url: string, cause: unknown): AppError {
  const problem = `cannot listen at ${url}: ${reasonOf(cause)}`
  return new AppError('failed', `${problem}; change --port or --host`, { cause })
}

// Creates the HTTP server of an open library, and starts listening.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { analyticsConfigOf } from '../analytics/analytics-config.ts'
import { adUrlsOf } from '../ads/ads-config.ts'
import { openAdvertising } from '../ads/advertising.ts'
import type { Config } from '../config/load-config.ts'
import { AppError } from '../errors.ts'
import { SegmentCache } from '../delivery/segment-cache.ts'
import { SegmentSender } from '../delivery/segment-sender.ts'
import { readBuiltPage } from '../http/built-page.ts'
import { createHttpServer } from '../http/http-server.ts'
import { loadPageCache } from '../storage/page-cache.ts'
import { ThumbnailSources } from '../http/thumbnail-sources.ts'
import { createDecoder } from '../thumbnails/decoder.ts'
import { createThumbnails } from '../thumbnails/thumbnails.ts'
import { openActivity } from './activity.ts'
import type { Library } from './library.ts'

/** A listening server. */
export interface WebServer {
  /** Its URL on this machine. */
  url: string
  /** Stops accepting connections, lets requests finish within a time limit, then closes. */
  close(): Promise<void>
}

export interface WebServerOptions {
  config: Config
  library: Library
  logger: Logger
  isReady: () => boolean
}

/** Time limit for open requests at shutdown. */
const CLOSE_TIMEOUT_MS = 8000

/** @throws AppError `failed` if the page is not built or the address is not available */
export async function startWebServer({
  config,
  library,
  logger,
  isReady,
}: WebServerOptions): Promise<WebServer> {
  const decoder = createDecoder({ log: logger, sandbox: library.sandbox })
  const { admission } = library
  const thumbnails = createThumbnails({
    folder: join(config.data, 'thumbnails'),
    decoder,
    admission,
    shared: library.artifacts,
    log: logger,
  })
  const activity = openActivity({ config, library, logger })
  const advertising = await openAdvertising({ config, record: activity.record, log: logger })
  const { host, port, trustProxy, corsOrigins, publicUrl } = config.server
  const segmentCache = await createSegmentCache(config)
  const sender = new SegmentSender(admission.bytesInFlight, segmentCache)
  let url = formatUrl(host, port)
  const app = await createHttpServer({
    catalog: library.catalog,
    sessions: library.sessions,
    admission,
    sender,
    page: await readBuiltPage(builtPageFolder()),
    thumbnails,
    sources: new ThumbnailSources(library),
    config: { ads: advertising.ads, analytics: analyticsConfigOf(config) },
    adUrls: adUrlsOf(config),
    logger,
    log: config.log,
    corsOrigins,
    trustProxy,
    isReady,
    publicUrl: () => publicUrl?.replace(/\/+$/, '') ?? url,
    extensions: [activity.addRoute, advertising.addRoutes],
  })
  if (config.server.metrics !== undefined) {
    const { measureServer } = await import('./metrics.ts')
    measureServer(app, { library, decoder, sender, segmentCache })
  }
  await app.listen({ host, port }).catch((cause: unknown) => {
    throw new AppError('failed', `cannot listen at ${url}: ${reasonOf(cause)}`, { cause })
  })
  const address = app.server.address()
  if (typeof address === 'object' && address !== null) url = formatUrl(host, address.port)
  return {
    url,
    close: async () => {
      const timer = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS)
      await app.close()
      clearTimeout(timer)
      thumbnails.close()
      decoder.close()
      await activity.close()
    },
  }
}

async function createSegmentCache({ hls }: Config): Promise<SegmentCache | undefined> {
  if (hls.cacheMegabytes === 0) return undefined
  const maxBytes = hls.cacheMegabytes * 1e6
  return new SegmentCache({ maxBytes, pageCache: await loadPageCache() })
}

/** dist/web of this package, whether run from source or from dist/server. */
function builtPageFolder(): string {
  const here = import.meta.url
  return fileURLToPath(new URL(here.endsWith('.ts') ? '../../dist/web' : '../../web', here))
}

function formatUrl(host: string, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EADDRINUSE') return 'another program uses this port'
  if (code === 'EACCES') return 'permission denied'
  return code === 'EADDRNOTAVAIL' ? 'this machine has no such address' : String(code ?? cause)
}

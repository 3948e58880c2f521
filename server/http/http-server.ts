// The HTTP server: limits, headers, and the groups of routes.
import cors from '@fastify/cors'
import Fastify, { LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ConfigResponse } from '../../shared/contract.ts'
import { apiPrefix } from '../../shared/paths.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { BufferPool } from '../delivery/buffer-pool.ts'
import type { Packager } from '../hls/session/packager.ts'
import type { SegmentCache } from '../delivery/segment-cache.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import type { BuiltPage } from './built-page.ts'
import { addCrawlerRoutes } from './crawler-routes.ts'
import { sendError } from './errors.ts'
import { addHealthRoutes } from './health-routes.ts'
import { addListRoutes } from './list-routes.ts'
import { sendUnreadable, readableUrl } from './malformed-request.ts'
import { addFallbacks, addPageRoutes } from './page-routes.ts'
import { createPagePolicy, createSecurityHeaders } from './security-headers.ts'
import type { SecurityHeaders } from './security-headers.ts'
import { addThumbnailRoutes } from './thumbnail-routes.ts'
import type { ThumbnailSources } from './thumbnail-sources.ts'
import { addVideoRoutes } from './video-routes.ts'

/** As long as Node lets a request's head be: which names are too long is for the routes to say. */
const MAX_PARAMETER_LENGTH = 16 * 1024
// Slow clients: node looks at them every 2 s and drops a request whose headers take longer than 8 s.
const CONNECTION_CHECK_MS = 2000
const HEADERS_TIMEOUT_MS = 8000
const REQUEST_TIMEOUT_MS = 15_000
const KEEP_ALIVE_MS = 15_000
const MAX_BODY_BYTES = 64 * 1024

export interface HttpServerOptions {
  catalog: Catalog
  packager: Packager
  /** Undefined: no segment is kept. */
  segmentCache: SegmentCache | undefined
  page: BuiltPage
  thumbnails: Thumbnails
  sources: ThumbnailSources
  config: ConfigResponse
  /** Addresses of the ad network, for the page's policy. */
  adUrls: readonly string[]
  logger: FastifyBaseLogger
  corsOrigins: readonly string[]
  trustProxy: boolean
  isReady: () => boolean
  publicUrl: () => string
  /** Routes of parts that this layer does not know. */
  extensions: readonly ((app: FastifyInstance) => Promise<void> | void)[]
}

/** The server with all routes; it does not listen yet. */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const app = Fastify({
    logController: new LogController({ disableRequestLogging: true }),
    // What is logged of a request is one line: a logger of its own, with a number, would cost more than it tells. As the
    // server's logger it would have every response watched to its end for a line that nobody wants.
    childLoggerFactory: () => options.logger,
    trustProxy: options.trustProxy,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    http: {
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
    },
    rewriteUrl: ({ url }) => readableUrl(url ?? '/'),
    clientErrorHandler: sendUnreadable,
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply)
    },
  })
  const headers = chooseHeaders(options)
  await addHeaders(app, { ...options, headers })
  addFallbacks(app, { ...options, headers })
  addHealthRoutes(app, options)
  addListRoutes(app, { ...options, headers })
  const sending = { buffers: new BufferPool(), cache: options.segmentCache, headers: headers.data }
  addVideoRoutes(app, { ...options, sending })
  addThumbnailRoutes(app, options)
  addCrawlerRoutes(app, options)
  for (const extend of options.extensions) await extend(app)
  await addPageRoutes(app, { ...options, headers })
  return app
}

function chooseHeaders({ page, config, adUrls, corsOrigins }: HttpServerOptions): SecurityHeaders {
  const { styleHashes } = page.shell
  const readers = corsOrigins.length > 0 ? 'cross-origin' : 'same-origin'
  const pagePolicy = createPagePolicy({ config, adUrls, styleHashes })
  return createSecurityHeaders({ pagePolicy, readers })
}

/** What is sent past the framework (text-answer.ts, segment-answer.ts) has these headers by itself. */
async function addHeaders(
  app: FastifyInstance,
  { headers, corsOrigins }: HttpServerOptions & { headers: SecurityHeaders },
): Promise<void> {
  // oxlint-disable-next-line max-params -- the framework's signature; an async hook would put every answer off
  app.addHook('onSend', (request, reply, _payload, done) => {
    const security = request.url.startsWith(apiPrefix) ? headers.data : headers.page
    for (const [name, value] of Object.entries(security)) {
      if (!reply.hasHeader(name)) void reply.header(name, value)
    }
    done()
  })
  if (corsOrigins.length > 0)
    await app.register(cors, { origin: [...corsOrigins], methods: ['GET', 'HEAD'] })
}

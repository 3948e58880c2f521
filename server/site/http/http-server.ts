// The HTTP server: limits, headers, the endpoints, and the routes of other layers.
import cors from '@fastify/cors'
import Fastify, { LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from 'fastify'
import { apiPrefix } from '../../../shared/paths.ts'
import type { Pacing } from '../../base/admission/egress.ts'
import type { TrustedProxies } from '../../base/config/trusted-proxies.ts'
import type { BuiltPage } from './pages/built-page.ts'
import { createConnectionServer } from './connections/connections.ts'
import { errorResponse, sendError } from './responses/errors.ts'
import { addRequestKind } from './responses/request-kind.ts'
import { Responder } from './responses/responder.ts'
import { decodableUrl } from './connections/malformed-request.ts'
import { addClients, addEndpoints, admitAll } from './add-endpoints.ts'
import { createEndpoints } from './endpoints.ts'
import type { EndpointSources } from './endpoints.ts'
import { PageFacts } from './pages/page-facts.ts'
import { createManifestEndpoint } from './pages/manifest.ts'
import { addBuiltFiles, addFallbacks, addRedirects } from './pages/page-routes.ts'
import { createPageSources } from './pages/page-sources.ts'
import { logRequests } from './request-log.ts'
import { createPagePolicy, createSecurityHeaders } from './responses/security-headers.ts'
import type { SecurityHeaders } from './responses/security-headers.ts'
import { addServerTiming, recordPhases } from './responses/server-timing.ts'
import { parseTarget } from './site/base-path.ts'

/** As large as Node's limit for headers, because the routes check the length of names. */
const MAX_PARAMETER_LENGTH = 16 * 1024
const MAX_BODY_BYTES = 64 * 1024

/** No route has a schema. The default compilers are a sixth of the modules of the program. */
const WITHOUT_SCHEMAS = { buildValidator: refuseSchema, buildSerializer: refuseSchema }

function refuseSchema(): never {
  throw new Error('routes have no schemas')
}

export interface HttpServerOptions extends Omit<EndpointSources, 'facts'> {
  /** URLs of the ad network, for the page's policy. */
  adUrls: readonly string[]
  logger: FastifyBaseLogger
  log: { requests: boolean; slowMs: number }
  corsOrigins: readonly string[]
  trustProxy: TrustedProxies
  /** Default unlimited. */
  pacing?: Pacing | undefined
  /** Routes of other layers. */
  extensions: readonly ((app: FastifyInstance) => Promise<void> | void)[]
}

/** The server with all routes; it does not listen yet. */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const app = Fastify({
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger with a request id would cost more than it helps. As the server's logger, it
    // would make Fastify watch each response to its end for a log line that is switched off.
    childLoggerFactory: () => options.logger,
    trustProxy: trustProxyOf(options.trustProxy),
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: 'idle',
    schemaController: { compilersFactory: WITHOUT_SCHEMAS },
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    serverFactory: (handler) => createConnectionServer(handler),
    rewriteUrl: ({ url }) => decodableUrl(urlOfRoutes(url ?? '/', options.site.basePath)),
    // The server has its own.
    clientErrorHandler: () => undefined,
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply)
    },
  })
  addRequestKind(app)
  addClients(app)
  ignoreRanges(app)
  recordPhases(app)
  app.decorateRequest('served', undefined)
  app.decorateReply('firstByteAtMs', undefined)
  app.decorateReply('fileBytes', undefined)
  const { pacing } = options
  app.decorateReply('pacing', pacing && { getter: () => pacing })
  if (options.logger.level === 'debug' || options.logger.level === 'trace') addServerTiming(app)
  logRequests(app, { logger: options.logger, ...options.log })
  const headers = chooseHeaders(options)
  await addHeaders(app, { ...options, headers })
  answerOutside(app, options.site.basePath)
  const responder = new Responder(headers)
  const sources: EndpointSources = { ...options, facts: createFacts(options) }
  const pages = createPageSources(sources)
  addFallbacks(app, pages, responder)
  addEndpoints(app, createEndpoints(sources, pages), responder)
  addRedirects(app, options.site)
  for (const extend of options.extensions) await extend(app)
  await app.register(async (files) => {
    admitAll(files, options.admission.assets)
    await addBuiltFiles(files, options.page)
    addEndpoints(files, [createManifestEndpoint(options)], responder)
  })
  return app
}

/** RFC 9110 14.2: of other methods than GET, a server must ignore it. */
function ignoreRanges(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.method !== 'GET') delete request.headers.range
    done()
  })
}

function createFacts(options: HttpServerOptions): PageFacts {
  const { sessionDetails, streamerDetails, sources, logger } = options
  return new PageFacts(
    {
      session: async (row, signal) => {
        const [described, imageSize] = await Promise.all([
          sessionDetails.describe(row, signal),
          sources.sessionImageSize(row, signal),
        ])
        return { ...described, imageSize }
      },
      streamer: async (streamer, signal) => {
        const [described, imageSize] = await Promise.all([
          streamerDetails.describe(streamer, signal),
          sources.streamerImageSize(streamer, signal),
        ])
        return { ...described, imageSize }
      },
    },
    logger,
  )
}

function chooseHeaders({ page, config, adUrls, corsOrigins }: HttpServerOptions): SecurityHeaders {
  const readers = corsOrigins.length > 0 ? 'cross-origin' : 'same-origin'
  const policyOf = ({ shell }: Pick<BuiltPage, 'shell'>) =>
    createPagePolicy({ config, adUrls, styleHashes: shell.styleHashes })
  const policies = { pagePolicy: policyOf(page), embedPolicy: policyOf(page.embed) }
  return createSecurityHeaders({ ...policies, readers })
}

/** The responder adds these headers itself: most of its responses do not call the hooks. */
async function addHeaders(
  app: FastifyInstance,
  { headers, corsOrigins }: HttpServerOptions & { headers: SecurityHeaders },
): Promise<void> {
  // oxlint-disable-next-line max-params -- Fastify's signature; an async hook delays each response
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

/**
 * Hops are counted from the connection, which is hop 0. Fastify itself trusts nobody if it gets a
 * number.
 */
export function trustProxyOf(
  proxies: TrustedProxies,
): NonNullable<FastifyServerOptions['trustProxy']> {
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies
  return typeof proxies === 'boolean' ? proxies : [...proxies]
}

/** A path that no route has. */
const UNKNOWN = '/.outside'

/** The URL that the routes get for a request. */
function urlOfRoutes(url: string, basePath: string): string {
  const target = parseTarget(url, basePath)
  return target.kind === 'site' ? target.url : UNKNOWN
}

/**
 * Answers requests outside of the base path before any route does: what is below another path is
 * another site, which has no page of this one. Without a base path there are none.
 */
function answerOutside(app: FastifyInstance, basePath: string): void {
  if (basePath === '') return
  app.addHook('onRequest', async (request, reply) => {
    const target = parseTarget(request.originalUrl, basePath)
    if (target.kind === 'site') return undefined
    if (target.kind === 'home' && ['GET', 'HEAD'].includes(request.method)) {
      return reply.header('cache-control', 'no-cache').redirect(target.url, 301)
    }
    return reply
      .code(404)
      .header('cache-control', 'no-store')
      .send(errorResponse('not_found', 'there is nothing here'))
  })
}

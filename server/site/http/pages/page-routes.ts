// The pages: three routes with the same shell and different heads, and the built files.
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AdsConfig, ConfigResponse } from '../../../../shared/contract.ts'
import { apiPrefix, outsidePatterns, pathPatterns } from '../../../../shared/paths.ts'
import type { Admission } from '../../../base/admission/limits.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import { isAppError } from '../../../base/errors.ts'
import { admitAll } from '../admitted.ts'
import { sessionTags, streamerTags } from '../../purge/cache-tags.ts'
import { sendError, errorResponse } from '../responses/errors.ts'
import { parseName, parseSessionParameters } from '../session-parameters.ts'
import { sendText, TextResponse } from '../responses/text-response.ts'
import type { SecurityHeaders } from '../responses/security-headers.ts'
import { belowBasePath } from '../site/base-path.ts'
import type { Site } from '../site/site.ts'
import type { BuiltPage } from './built-page.ts'
import { addEmbedRoutes } from './embed-routes.ts'
import { ListLinks, parsePageNumber } from './list-links.ts'
import type { PageFacts } from './page-facts.ts'
import { isUnplayable, PageHeads } from './page-heads.ts'
import { createPageSender } from './page-sender.ts'
import type { SendPage } from './page-sender.ts'

const ICON_CACHE = 'public, max-age=86400'
const MANIFEST = 'manifest.webmanifest'
const MANIFEST_PATHS = new Set(['id', 'start_url', 'src'])

export interface PageRouteOptions {
  catalog: Catalog
  admission: Pick<Admission, 'assets'>
  page: BuiltPage
  config: ConfigResponse
  site: Site
  facts: PageFacts
  /** Public origin of the site, without a trailing slash. */
  publicUrl: () => string
  headers: SecurityHeaders
}

/** Handles unknown paths and errors, also of routes that are added later. */
export function addFallbacks(app: FastifyInstance, options: PageRouteOptions): void {
  const heads = createHeads(options)
  const sendPage = createSender(options)

  app.setNotFoundHandler(async (request, reply) => {
    void reply.code(404)
    if (isPageRequest(request)) return sendPage(request, reply, heads.missing())
    return reply
      .header('cache-control', 'no-store')
      .send(errorResponse('not_found', 'there is nothing here'))
  })

  app.setErrorHandler(async (error, request, reply) => {
    if (!isPageRequest(request) || !isAppError(error, 'invalid', 'gone')) {
      return sendError(error, request, reply)
    }
    void reply.code(error.code === 'gone' ? 410 : 400)
    return sendPage(request, reply, heads.missing())
  })
}

/** Registers the three routes, the built files and the icons. */
export async function addPageRoutes(
  app: FastifyInstance,
  options: PageRouteOptions,
): Promise<void> {
  const { catalog, page, facts } = options
  const heads = createHeads(options)
  const sendPage = createSender(options)
  const lists = new ListLinks(catalog)

  app.get(pathPatterns.streamersPage, async (request, reply) => {
    const list = lists.streamers(parsePageNumber(request.query))
    if (list !== undefined) return sendPage(request, reply, heads.streamers(list))
    void reply.code(404)
    return sendPage(request, reply, heads.missing())
  })

  app.get(pathPatterns.sessionsPage, async (request, reply) => {
    const streamer = parseName(request.params, 'streamer')
    void reply.headers(streamerTags(streamer))
    // The same page with the true status: crawlers must drop a removed streamer.
    const isListed = catalog.hasStreamer(streamer)
    const list = isListed ? lists.sessions(streamer, parsePageNumber(request.query)) : undefined
    if (list === undefined) void reply.code(404)
    const known = list && (await facts.streamer(streamer))
    return sendPage(request, reply, heads.sessions({ streamer, facts: known, list }))
  })

  app.get(pathPatterns.playerPage, async (request, reply) => {
    const session = parseSessionParameters(request.params)
    void reply.headers(sessionTags(session))
    const row = catalog.findSession(session)
    if (row === undefined) void reply.code(404)
    else if (isUnplayable(row)) void reply.code(422)
    const known = row && !isUnplayable(row) ? await facts.session(row) : undefined
    const content = heads.player({ session, row, facts: known, nowMs: Date.now() })
    return sendPage(request, reply, content)
  })

  const { site, headers } = options
  const sendEmbed = createPageSender({ shell: page.embed.shell, site, headers: headers.embed })
  addEmbedRoutes(app, { ...options, heads, sendEmbed })

  addRedirects(app, site)

  await app.register(async (scope) => {
    admitAll(scope, options.admission.assets)
    await scope.register(fastifyStatic, {
      root: page.assetsFolders,
      prefix: '/assets/',
      dotfiles: 'deny',
      immutable: true,
      maxAge: '365d',
      index: false,
      preCompressed: true,
      decorateReply: false,
    })
    await scope.register(fastifyStatic, { root: page.folder, serve: false })
    for (const name of page.rootFiles) {
      scope.get(`/${name}`, async (_request, reply) => reply.sendFile(name, { maxAge: '1d' }))
    }
    const manifest = createManifest(options)
    scope.get(`/${MANIFEST}`, async (request, reply) => sendText(request, reply, manifest))
  })
}

/** The built web manifest, with the name of the site and its paths. */
function createManifest({ page, site, headers }: PageRouteOptions): TextResponse {
  const formatPath = belowBasePath(site.basePath)
  const place = (key: string, value: unknown): unknown =>
    typeof value === 'string' && MANIFEST_PATHS.has(key) ? formatPath(value) : value
  const manifest = { ...page.manifest, name: site.name, short_name: site.name }
  return new TextResponse(JSON.stringify(manifest, place), {
    contentType: 'application/manifest+json; charset=utf-8',
    cacheControl: ICON_CACHE,
    headers: headers.page,
  })
}

/** Of a person, who needs a page as a response: not of the API, and not of a program. */
function isPageRequest({ method, url, kind }: FastifyRequest): boolean {
  const isForPrograms = url.startsWith(apiPrefix) || kind === 'feed' || kind === 'oembed'
  return ['GET', 'HEAD'].includes(method) && !isForPrograms
}

/** One URL per page: without a slash at the end. */
function addRedirects(app: FastifyInstance, { basePath }: Site): void {
  const formatPath = belowBasePath(basePath)
  const patterns = [pathPatterns.sessionsPage, pathPatterns.playerPage, outsidePatterns.embedPage]
  for (const pattern of patterns) {
    app.get(`${pattern}/`, async (request, reply) => {
      request.kind = 'page'
      const url = request.url.replace(/\/(?=\?|$)/, '')
      return reply.header('cache-control', 'no-cache').redirect(formatPath(url), 301)
    })
  }
}

function createSender({ page, site, headers }: PageRouteOptions): SendPage {
  return createPageSender({ shell: page.shell, site, headers: headers.page })
}

function createHeads({ page, config, site, publicUrl }: PageRouteOptions): PageHeads {
  return new PageHeads({
    site,
    publicUrl,
    playerScripts: page.playerScripts,
    embedScripts: page.embed.playerScripts,
    hasBanners: showsBanners(config.ads),
  })
}

function showsBanners(ads: AdsConfig): boolean {
  return ads.provider !== 'none' && ads.scriptPath !== undefined && ads.zones.banner !== undefined
}

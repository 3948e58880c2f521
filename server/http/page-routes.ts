// The page: three routes with the same shell and different heads, and the built files.
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdsConfig, ConfigResponse } from '../../shared/contract.ts'
import {
  apiPrefix,
  configApiPath,
  pathPatterns,
  playerPagePath,
  playlistApiPath,
  sessionsApiPath,
  sessionsPagePath,
  streamersApiPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import type { Admission } from '../admission/limits.ts'
import type { Catalog, SessionRow } from '../catalog/catalog.ts'
import { isAppError } from '../errors.ts'
import { admitAll } from './admitted.ts'
import { sessionTags, streamerTags } from '../purge/cache-tags.ts'
import { sendError, errorResponse } from './responses/errors.ts'
import { formatPage } from './page-shell.ts'
import type { PageHead, Preload } from './page-shell.ts'
import { parseName, parseSessionParameters } from './session-parameters.ts'
import { sendText, TextResponse } from './responses/text-response.ts'
import type { BuiltPage } from './built-page.ts'
import type { SecurityHeaders } from './responses/security-headers.ts'

const HTML_TYPE = 'text/html; charset=utf-8'
const SITE_DESCRIPTION = 'Watch recorded live streams: browse streamers and play their sessions.'

export interface PageRouteOptions {
  catalog: Catalog
  admission: Pick<Admission, 'assets'>
  page: BuiltPage
  config: ConfigResponse
  publicUrl: () => string
  headers: SecurityHeaders
}

/** Handles unknown paths and errors, also of routes that are added later. */
export function addFallbacks(app: FastifyInstance, options: PageRouteOptions): void {
  const heads = createHeads(options)

  app.setNotFoundHandler(async (request, reply) => {
    void reply.code(404)
    if (isPageRequest(request))
      return sendPage(request, reply, { head: heads.missing(), ...options })
    return reply
      .header('cache-control', 'no-store')
      .send(errorResponse('not_found', 'there is nothing here'))
  })

  app.setErrorHandler(async (error, request, reply) => {
    if (!isPageRequest(request) || !isAppError(error, 'invalid', 'gone')) {
      return sendError(error, request, reply)
    }
    void reply.code(error.code === 'gone' ? 410 : 400)
    return sendPage(request, reply, { head: heads.missing(), ...options })
  })
}

/** Registers the three routes and the built files. */
export async function addPageRoutes(
  app: FastifyInstance,
  options: PageRouteOptions,
): Promise<void> {
  const { catalog, page } = options
  const heads = createHeads(options)

  app.get(pathPatterns.streamersPage, async (request, reply) =>
    sendPage(request, reply, { head: heads.streamers(), ...options }),
  )

  app.get(pathPatterns.sessionsPage, async (request, reply) => {
    const streamer = parseName(request.params, 'streamer')
    void reply.headers(streamerTags(streamer))
    // The same page with the true status: crawlers must drop a removed streamer.
    if (!catalog.hasStreamer(streamer)) void reply.code(404)
    return sendPage(request, reply, { head: heads.sessions(streamer), ...options })
  })

  app.get(pathPatterns.playerPage, async (request, reply) => {
    const session = parseSessionParameters(request.params)
    void reply.headers(sessionTags(session))
    const row = catalog.findSession(session)
    if (row === undefined) void reply.code(404)
    return sendPage(request, reply, { head: heads.player(session, row), ...options })
  })

  await app.register(async (scope) => {
    admitAll(scope, options.admission.assets)
    await scope.register(fastifyStatic, {
      root: page.assetsFolder,
      prefix: '/assets/',
      dotfiles: 'deny',
      immutable: true,
      maxAge: '365d',
      index: false,
      preCompressed: true,
      decorateReply: false,
    })
  })
}

function isPageRequest({ method, url }: FastifyRequest): boolean {
  return ['GET', 'HEAD'].includes(method) && !url.startsWith(apiPrefix)
}

async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { page, head, headers }: Pick<PageRouteOptions, 'page' | 'headers'> & { head: PageHead },
): Promise<FastifyReply> {
  request.kind = 'page'
  const html = new TextResponse(formatPage(page.shell, head), {
    contentType: HTML_TYPE,
    cacheControl: 'no-cache',
    headers: headers.page,
  })
  return sendText(request, reply, html)
}

interface Heads {
  streamers(): PageHead
  sessions(streamer: string): PageHead
  player(session: SessionReference, row: SessionRow | undefined): PageHead
  missing(): PageHead
}

function createHeads({ publicUrl, page, config }: PageRouteOptions): Heads {
  const always: Preload = { kind: 'fetch', path: configApiPath }
  const hasBanners = showsBanners(config.ads)
  const basic = (title: string, path: string): PageHead => ({
    title: `${title} · Aftercast`,
    description: SITE_DESCRIPTION,
    canonicalUrl: publicUrl() + path,
    openGraphType: 'website',
    preloads: [always],
    hasBanners,
  })
  return {
    streamers: () => ({
      ...basic('Streamers', '/'),
      preloads: [{ kind: 'fetch', path: streamersApiPath }, always],
    }),
    sessions: (streamer) => ({
      ...basic(`Sessions: ${streamer}`, sessionsPagePath(streamer)),
      description: `Recorded live streams of ${streamer}.`,
      imageUrl: publicUrl() + streamerThumbnailApiPath(streamer),
      preloads: [{ kind: 'fetch', path: sessionsApiPath(streamer) }, always],
    }),
    player: (session, row) => {
      const { streamer, date, sessionId } = session
      const title = `${streamer} - ${date} - ${sessionId}`
      const imageUrl = publicUrl() + thumbnailApiPath(session)
      return {
        ...basic(title, playerPagePath(session)),
        description: `${streamer} live on ${date}, recorded.`,
        imageUrl,
        openGraphType: 'video.other',
        preloads: [
          ...page.playerScripts.map((path) => ({ kind: 'script' as const, path })),
          { kind: 'fetch', path: playlistApiPath(session) },
          always,
        ],
        ...structuredVideo(
          { title, imageUrl, date, contentUrl: publicUrl() + playlistApiPath(session) },
          row,
        ),
      }
    },
    missing: () => basic('Not found', '/'),
  }
}

function showsBanners(ads: AdsConfig): boolean {
  return ads.provider !== 'none' && ads.scriptPath !== undefined && ads.zones.banner !== undefined
}

/** schema.org VideoObject; absent if the date is not a date or the session is not indexed yet. */
function structuredVideo(
  facts: { title: string; imageUrl: string; date: string; contentUrl: string },
  row: SessionRow | undefined,
): Pick<PageHead, 'structuredData'> {
  const date = /^\d{4}-\d{2}-\d{2}/.exec(facts.date)?.[0]
  if (date === undefined || row?.state.status !== 'playable') return {}
  return {
    structuredData: {
      '@context': 'https://schema.org',
      '@type': 'VideoObject',
      name: facts.title,
      thumbnailUrl: facts.imageUrl,
      uploadDate: date,
      duration: `PT${Math.round(row.state.durationSeconds)}S`,
      contentUrl: facts.contentUrl,
    },
  }
}

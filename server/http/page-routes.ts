// The page: three routes that answer the shell with their own head, and its built files.
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  playerPagePath,
  playlistApiPath,
  sessionsApiPath,
  sessionsPagePath,
  streamersApiPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import type { Catalog, SessionRow } from '../catalog/catalog.ts'
import { isAppError } from '../errors.ts'
import { answerError, errorAnswer } from './errors.ts'
import { formatPage } from './page-shell.ts'
import type { PageHead } from './page-shell.ts'
import { parseName, parseSessionParameters } from './session-parameters.ts'
import { sendText, TextAnswer } from './text-answer.ts'
import type { BuiltPage } from './built-page.ts'

const HTML_TYPE = 'text/html; charset=utf-8'
const SITE_DESCRIPTION = 'Watch recorded live streams: browse streamers and play their sessions.'

export interface PageRouteOptions {
  catalog: Catalog
  page: BuiltPage
  publicUrl(): string
}

/** Registers the routes, the built files, and the answer to everything that is neither page nor API. */
export async function addPageRoutes(
  app: FastifyInstance,
  options: PageRouteOptions,
): Promise<void> {
  const { catalog, page, publicUrl } = options
  const heads = createHeads(options)

  async function sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    head: PageHead,
  ): Promise<FastifyReply> {
    const html = new TextAnswer(formatPage(page.shell, head), {
      contentType: HTML_TYPE,
      cacheControl: 'no-cache',
    })
    return sendText(request, reply, html)
  }

  app.get('/', async (request, reply) => sendPage(request, reply, heads.streamers()))

  app.get('/s/:streamer', async (request, reply) => {
    const streamer = parseName(request.params, 'streamer')
    // The same page with its true status: a crawler must not keep a streamer who left.
    if (catalog.listSessions(streamer) === undefined) void reply.code(404)
    return sendPage(request, reply, heads.sessions(streamer))
  })

  app.get('/p/:streamer/:date/:sessionId', async (request, reply) => {
    const session = parseSessionParameters(request.params)
    const row = catalog.findSession(session)
    if (row === undefined) void reply.code(404)
    return sendPage(request, reply, heads.player(session, row))
  })

  await app.register(fastifyStatic, {
    root: page.assetsFolder,
    prefix: '/assets/',
    dotfiles: 'deny',
    immutable: true,
    maxAge: '365d',
    index: false,
    preCompressed: true,
    decorateReply: false,
  })

  app.setNotFoundHandler(async (request, reply) => {
    void reply.code(404)
    if (request.url.startsWith('/api/') || !['GET', 'HEAD'].includes(request.method)) {
      return reply
        .header('cache-control', 'no-store')
        .send(errorAnswer('not_found', 'there is nothing here'))
    }
    return sendPage(request, reply, heads.missing())
  })

  app.setErrorHandler(async (error, request, reply) => {
    const wantsPage = request.url.startsWith('/s/') || request.url.startsWith('/p/')
    if (!wantsPage || !isAppError(error, 'invalid')) return answerError(error, request, reply)
    void reply.code(400)
    return sendPage(request, reply, { ...heads.missing(), canonicalUrl: publicUrl() })
  })
}

interface Heads {
  streamers(): PageHead
  sessions(streamer: string): PageHead
  player(session: SessionReference, row: SessionRow | undefined): PageHead
  missing(): PageHead
}

function createHeads({ publicUrl, page }: PageRouteOptions): Heads {
  const basic = (title: string, path: string): PageHead => ({
    title: `${title} · Aftercast`,
    description: SITE_DESCRIPTION,
    canonicalUrl: publicUrl() + path,
    openGraphType: 'website',
    preloads: [],
  })
  return {
    streamers: () => ({
      ...basic('Streamers', '/'),
      preloads: [{ kind: 'fetch', path: streamersApiPath }],
    }),
    sessions: (streamer) => ({
      ...basic(`Sessions: ${streamer}`, sessionsPagePath(streamer)),
      description: `Recorded live streams of ${streamer}.`,
      imageUrl: publicUrl() + streamerThumbnailApiPath(streamer),
      preloads: [{ kind: 'fetch', path: sessionsApiPath(streamer) }],
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

/** schema.org VideoObject; left out where the date is none or the session is not indexed yet. */
function structuredVideo(
  facts: { title: string; imageUrl: string; date: string; contentUrl: string },
  row: SessionRow | undefined,
): Pick<PageHead, 'structuredData'> {
  const day = /^\d{4}-\d{2}-\d{2}/.exec(facts.date)?.[0]
  if (day === undefined || row?.state.status !== 'playable') return {}
  return {
    structuredData: {
      '@context': 'https://schema.org',
      '@type': 'VideoObject',
      name: facts.title,
      thumbnailUrl: facts.imageUrl,
      uploadDate: day,
      duration: `PT${Math.round(row.state.durationSeconds)}S`,
      contentUrl: facts.contentUrl,
    },
  }
}

// GET /embed/{streamer}/{date}/{sessionId}, the page with the player alone, and GET /oembed, by
// which other sites find it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { outsidePatterns } from '../../../../shared/paths.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { Catalog, SessionRow } from '../../../library/catalog/catalog.ts'
import { AppError, isAppError, UnplayableError } from '../../../base/errors.ts'
import { sessionTags } from '../../purge/cache-tags.ts'
import { errorResponse } from '../responses/errors.ts'
import { sendText, TextResponse } from '../responses/text-response.ts'
import type { SecurityHeaders } from '../responses/security-headers.ts'
import { parseSessionParameters } from '../session-parameters.ts'
import type { Site } from '../site/site.ts'
import { formatOembed, parseOembedRequest, textIn } from './oembed.ts'
import type { PageFacts } from './page-facts.ts'
import { isUnplayable } from './page-heads.ts'
import type { PageHeads } from './page-heads.ts'
import type { SendPage } from './page-sender.ts'

export interface EmbedRouteOptions {
  catalog: Catalog
  site: Site
  facts: PageFacts
  /** Public origin of the site, without a trailing slash. */
  publicUrl: () => string
  headers: SecurityHeaders
  heads: PageHeads
  /** Sends a page of the embedded player. */
  sendEmbed: SendPage
}

const JSON_TYPE = 'application/json; charset=utf-8'
/** As the pages. */
const REVALIDATE = 'no-cache'
/** Scripts of other sites may read what their servers may read. */
const READABLE_ANYWHERE = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
}

/** Registers the routes. */
export function addEmbedRoutes(app: FastifyInstance, options: EmbedRouteOptions): void {
  const { catalog, heads, facts, sendEmbed } = options

  app.get(outsidePatterns.embedPage, async (request, reply) => {
    const session = parseSessionParameters(request.params)
    void reply.headers(sessionTags(session))
    const { status, row } = findRow(catalog, session)
    void reply.code(status)
    const known = status === 200 && row ? await facts.session(row) : undefined
    const content = heads.embed({ session, row, facts: known, nowMs: Date.now() })
    return sendEmbed(request, reply, content)
  })

  app.get(outsidePatterns.oembed, async (request, reply) => sendOembed(request, reply, options))
}

/** The page in the frame explains what is missing, so it exists for each status. */
function findRow(
  catalog: Catalog,
  session: SessionReference,
): { status: number; row: SessionRow | undefined } {
  try {
    const row = catalog.findSession(session)
    if (row === undefined) return { status: 404, row }
    return { status: isUnplayable(row) ? 422 : 200, row }
  } catch (error) {
    if (!isAppError(error, 'gone')) throw error
    return { status: 410, row: undefined }
  }
}

async function sendOembed(
  request: FastifyRequest,
  reply: FastifyReply,
  { catalog, site, facts, publicUrl, headers }: EmbedRouteOptions,
): Promise<unknown> {
  request.kind = 'oembed'
  if ((textIn(request.query, 'format') ?? 'json') !== 'json') {
    const body = errorResponse('unsupported', "only the format 'json' is supported")
    return reply.code(501).header('cache-control', 'no-store').send(body)
  }
  const origin = publicUrl()
  const wanted = parseOembedRequest(request.query, origin)
  void reply.headers(sessionTags(wanted.session))
  const row = catalog.findSession(wanted.session)
  if (row === undefined) throw new AppError('not_found', 'there is no such session')
  if (row.state.status === 'unplayable') throw new UnplayableError(row.state.reason)
  const known = await facts.session(row)
  const body = formatOembed(wanted, {
    origin,
    siteName: site.name,
    title: row.title,
    thumbnail: known?.imageSize,
  })
  const response = new TextResponse(JSON.stringify(body), {
    contentType: JSON_TYPE,
    cacheControl: REVALIDATE,
    headers: { ...headers.data, ...READABLE_ANYWHERE },
  })
  return sendText(request, reply, response)
}

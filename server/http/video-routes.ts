// GET /api/video/…: playlist, key, init and media segments of one session.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { pathPatterns } from '../../shared/paths.ts'
import type { Catalog, SessionRow } from '../catalog/catalog.ts'
import { AppError, UnplayableError } from '../errors.ts'
import type { Packager, Purpose } from '../hls/session/packager.ts'
import type { PlayableSession, SessionFile, TextResource } from '../hls/session/playable-session.ts'
import { sendSegment, IMMUTABLE } from './segment-response.ts'
import type { SegmentSending } from './segment-response.ts'
import { parseName, parseSessionParameters } from './session-parameters.ts'
import { sendText, TextResponse } from './text-response.ts'
import type { TextResponseOptions } from './text-response.ts'

export interface VideoRouteOptions {
  catalog: Catalog
  packager: Packager
  sending: SegmentSending
}

const TEXT_CACHE = {
  /** A recording that may still be written to has another playlist soon. */
  fresh: 'public, max-age=2',
  hour: 'public, max-age=3600',
  immutable: IMMUTABLE,
} as const
const MAX_PLAYLISTS = 256

/** Registers the routes. */
export function addVideoRoutes(app: FastifyInstance, options: VideoRouteOptions): void {
  const subtitles = new LRUCache<string, TextResponse>({ max: MAX_PLAYLISTS })
  const { headers } = options.sending

  app.get(pathPatterns.playlist, async (request, reply) => {
    const session = await openSession(request, options, 'playlist')
    try {
      return await sendText(
        request,
        reply,
        cachedResponse(subtitles, await session.playlist(), headers),
      )
    } finally {
      await session.close()
    }
  })

  app.get(pathPatterns.playlistFile, async (request, reply) => {
    const version = parseName(request.params, 'version')
    const fileName = parseName(request.params, 'file')
    const session = await openSession(request, options, 'file')
    try {
      const file = await session.find(version, fileName)
      if (file === undefined) throw new AppError('not_found', 'there is no such file')
      if (file.kind === 'segment') {
        const { segment } = file
        return await sendSegment(request, reply, { segment, ...options.sending })
      }
      if (file.kind === 'text') {
        return await sendText(request, reply, cachedResponse(subtitles, file.text, headers))
      }
      return await sendBytes(reply, file)
    } finally {
      await session.close()
    }
  })
}

async function openSession(
  request: FastifyRequest,
  { catalog, packager }: VideoRouteOptions,
  purpose: Purpose,
): Promise<PlayableSession> {
  const session = parseSessionParameters(request.params)
  return packager.open(requirePlayable(catalog.findSession(session)), purpose)
}

/** The answer of before where the text is the same: neither made nor compressed again. */
function cachedResponse(
  subtitles: LRUCache<string, TextResponse>,
  text: TextResource,
  headers: TextResponseOptions['headers'],
): TextResponse {
  const cacheControl = TEXT_CACHE[text.caching]
  const key = `${text.version} ${cacheControl}`
  const known = subtitles.get(key)
  if (known !== undefined) return known
  const { contentType } = text
  const answer = new TextResponse(text.format(), { contentType, cacheControl, headers })
  subtitles.set(key, answer)
  return answer
}

/** @throws AppError `not_found`, `unplayable` */
function requirePlayable(row: SessionRow | undefined): SessionRow {
  if (row === undefined) throw new AppError('not_found', 'there is no such session')
  // What has no bytes yet may have some in a moment: only the files themselves tell.
  const mayHaveBegun = row.sizeBytes === 0
  if (row.state.status === 'unplayable' && !mayHaveBegun) {
    throw new UnplayableError(row.state.reason)
  }
  return row
}

function sendBytes(
  reply: FastifyReply,
  file: Extract<SessionFile, { kind: 'key' | 'init' }>,
): FastifyReply {
  const headers =
    file.kind === 'key'
      ? { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' }
      : { 'content-type': file.contentType, 'cache-control': IMMUTABLE }
  return reply.headers(headers).send(Buffer.from(file.bytes))
}

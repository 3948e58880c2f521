// GET /api/thumbnail/… and /api/thumbnail-streamer/…: in the best format that the client accepts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import { pathPatterns } from '../../shared/paths.ts'
import { AppError } from '../errors.ts'
import { chooseImageFormat } from '../thumbnails/image-format.ts'
import type { Thumbnail, Thumbnails } from '../thumbnails/thumbnails.ts'
import { parseName, parseSessionParameters } from './session-parameters.ts'
import { addVary } from './text-response.ts'
import type { ThumbnailSources } from './thumbnail-sources.ts'

export interface ThumbnailRouteOptions {
  thumbnails: Thumbnails
  sources: ThumbnailSources
}

/** The thumbnail of a replaced recording changes within a minute. */
const IMAGE_CACHE = 'public, max-age=60'

/** Registers the routes. */
export function addThumbnailRoutes(
  app: FastifyInstance,
  { thumbnails, sources }: ThumbnailRouteOptions,
): void {
  app.get(pathPatterns.thumbnail, async (request, reply) => {
    request.kind = 'thumbnail'
    const source = await sources.session(parseSessionParameters(request.params))
    const format = chooseImageFormat(request.headers.accept)
    return sendThumbnail(request, reply, source && (await thumbnails.session(source, format)))
  })

  app.get(pathPatterns.streamerThumbnail, async (request, reply) => {
    request.kind = 'thumbnail'
    const source = await sources.streamer(parseName(request.params, 'streamer'))
    const format = chooseImageFormat(request.headers.accept)
    return sendThumbnail(request, reply, source && (await thumbnails.streamer(source, format)))
  })
}

function sendThumbnail(
  request: FastifyRequest,
  reply: FastifyReply,
  thumbnail: Thumbnail | undefined,
): FastifyReply {
  if (thumbnail === undefined) throw new AppError('not_found', 'there is no thumbnail')
  const etag = `"${thumbnail.version}"`
  void reply.headers({
    'content-type': thumbnail.contentType,
    'cache-control': IMAGE_CACHE,
    etag,
    vary: addVary(reply.getHeader('vary'), 'Accept'),
  })
  if (fresh(request.headers, { etag })) return reply.code(304).send()
  return reply.send(Buffer.from(thumbnail.bytes))
}

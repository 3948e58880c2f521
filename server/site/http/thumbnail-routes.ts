// GET /api/thumbnail/… and /api/thumbnail-streamer/…: in the best format that the client accepts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import { pathPatterns } from '../../../shared/paths.ts'
import { sendBody, sendHead } from '../../stream/delivery/send-body.ts'
import { sliceChunks } from '../../stream/delivery/chunk-source.ts'
import { AppError } from '../../base/errors.ts'
import { chooseImageFormat } from '../../decode/thumbnails/image-format.ts'
import type { Leased } from '../../decode/thumbnails/image-buffers.ts'
import type { Thumbnail } from '../../decode/thumbnails/thumbnail.ts'
import type { Thumbnails } from '../../decode/thumbnails/thumbnails.ts'
import { abandonable } from './admitted.ts'
import type { AbandonableHandler } from './admitted.ts'
import { sessionTags, streamerTags } from '../purge/cache-tags.ts'
import { setServerTiming } from './responses/server-timing.ts'
import { parseName, parseSessionParameters } from './session-parameters.ts'
import { addVary } from './responses/text-response.ts'
import type { ThumbnailSources } from './thumbnail-sources.ts'

export interface ThumbnailRouteOptions {
  thumbnails: Thumbnails
  sources: ThumbnailSources
  /** Headers of every response: they bypass Fastify's hooks. */
  headers: Headers
}

type Headers = Readonly<Record<string, string>>

/** The thumbnail of a replaced recording changes within a minute. */
const IMAGE_CACHE = 'public, max-age=60'

/** Registers the routes. */
export function addThumbnailRoutes(
  app: FastifyInstance,
  { thumbnails, sources, headers }: ThumbnailRouteOptions,
): void {
  const sendSession: AbandonableHandler = async (request, reply, signal) => {
    request.kind = 'thumbnail'
    const session = parseSessionParameters(request.params)
    void reply.headers(sessionTags(session))
    const source = await sources.session(session, signal)
    const format = chooseImageFormat(request.headers.accept)
    const thumbnail = source && (await thumbnails.session(source, { format, signal }))
    return sendThumbnail(request, reply, { thumbnail, headers })
  }

  const sendStreamer: AbandonableHandler = async (request, reply, signal) => {
    request.kind = 'thumbnail'
    const streamer = parseName(request.params, 'streamer')
    void reply.headers(streamerTags(streamer))
    const source = await sources.streamer(streamer, signal)
    const format = chooseImageFormat(request.headers.accept)
    const thumbnail = source && (await thumbnails.streamer(source, { format, signal }))
    return sendThumbnail(request, reply, { thumbnail, headers })
  }

  app.get(pathPatterns.thumbnail, abandonable(sendSession))
  app.get(pathPatterns.streamerThumbnail, abandonable(sendStreamer))
}

async function sendThumbnail(
  request: FastifyRequest,
  reply: FastifyReply,
  { thumbnail, headers }: { thumbnail: Leased<Thumbnail> | undefined; headers: Headers },
): Promise<unknown> {
  if (thumbnail === undefined) throw new AppError('not_found', 'there is no thumbnail')
  try {
    const { version, contentType, bytes } = thumbnail
    const etag = `"${version}"`
    void reply.headers({
      ...headers,
      'content-type': contentType,
      'cache-control': IMAGE_CACHE,
      etag,
      vary: addVary(reply.getHeader('vary'), 'Accept'),
    })
    if (fresh(request.headers, { etag })) return reply.code(304).send()
    void reply.header('content-length', bytes.length)
    setServerTiming(request, reply)
    if (request.method === 'HEAD') return sendHead(reply)
    await sendBody(reply, sliceChunks(bytes))
    return reply
  } finally {
    thumbnail.release()
  }
}

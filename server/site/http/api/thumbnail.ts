// GET /api/thumbnail/… and /api/thumbnail-streamer/…: the thumbnail of a session or of a streamer,
// in the best format that the client accepts.
import { pathPatterns } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import { chooseImageFormat } from '../../../decode/thumbnails/image-format.ts'
import type { Leased } from '../../../decode/thumbnails/image-buffers.ts'
import type { Thumbnail } from '../../../decode/thumbnails/thumbnail.ts'
import type { ThumbnailSource } from '../../../decode/thumbnails/thumbnails.ts'
import { sessionTags, streamerTags } from '../../purge/cache-tags.ts'
import type { ApiSources } from './api-sources.ts'
import type { Answer, Call, Endpoint } from '../responses/answer.ts'
import { parseName, parseSessionParameters } from '../session-parameters.ts'

export function createThumbnailEndpoints({ thumbnails, sources }: ApiSources): Endpoint[] {
  const each = { kind: 'thumbnail', admission: 'inside' } as const
  const formatFor = ({ headers }: Call['request']) => chooseImageFormat(headers.accept)
  return [
    {
      ...each,
      path: pathPatterns.thumbnail,
      answer: async ({ request, signal, tag }) => {
        const session = parseSessionParameters(request.params)
        tag(sessionTags(session))
        const source = await sources.session(session, signal)
        const options = { format: formatFor(request), signal }
        const first = isFirstFrame(request.query)
          ? source && (await thumbnails.session(firstFrame(source), options))
          : undefined
        return answerThumbnail(first ?? (source && (await thumbnails.session(source, options))))
      },
    },
    {
      ...each,
      path: pathPatterns.streamerThumbnail,
      answer: async ({ request, signal, tag }) => {
        const streamer = parseName(request.params, 'streamer')
        tag(streamerTags(streamer))
        const source = await sources.streamer(streamer, signal)
        const options = { format: formatFor(request), signal }
        return answerThumbnail(source && (await thumbnails.streamer(source, options)))
      },
    },
  ]
}

/** Whether the query asks for it. @throws AppError `invalid` */
function isFirstFrame(query: unknown): boolean {
  const frame: unknown = typeof query === 'object' && query && Reflect.get(query, 'frame')
  if (frame !== undefined && frame !== 'first') {
    throw new AppError('invalid', "'frame' can only be 'first'")
  }
  return frame === 'first'
}

/** The key frame that playback starts with, unless it is nearly black: then there is none. */
function firstFrame({ key, ...source }: ThumbnailSource): ThumbnailSource {
  return { ...source, key: `first ${key}`, splitPoints: 1, mustBeBright: true, sidecar: undefined }
}

/** Other sites may show it: feeds, oEmbed and share cards name it. @throws AppError `not_found` */
function answerThumbnail(thumbnail: Leased<Thumbnail> | undefined): Answer {
  if (thumbnail === undefined) throw new AppError('not_found', 'there is no thumbnail')
  const { version, contentType, bytes } = thumbnail
  return {
    body: { kind: 'image', bytes, etag: `"${version}"`, vary: 'Accept' },
    type: contentType,
    // The thumbnail of a replaced recording changes.
    cache: 'minute',
    security: 'image',
    release: () => thumbnail.release(),
  }
}

// GET /api/thumbnail/…: a session's thumbnail, in the best format that the client accepts.
import { pathPatterns } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import { chooseImageFormat } from '../../../decode/thumbnails/image-format.ts'
import type { Leased } from '../../../decode/thumbnails/image-buffers.ts'
import type { Thumbnail } from '../../../decode/thumbnails/thumbnail.ts'
import type { Thumbnails } from '../../../decode/thumbnails/thumbnails.ts'
import { sessionTags } from '../../purge/cache-tags.ts'
import type { Answer, Endpoint } from '../responses/answer.ts'
import { parseSessionParameters } from '../session-parameters.ts'
import type { ThumbnailSources } from './thumbnail-sources.ts'

export interface ThumbnailEndpointSources {
  thumbnails: Thumbnails
  sources: ThumbnailSources
}

export function createThumbnailEndpoint(options: ThumbnailEndpointSources): Endpoint {
  const { thumbnails, sources } = options
  return {
    path: pathPatterns.thumbnail,
    kind: 'thumbnail',
    admission: 'inside',
    answer: async ({ request, signal, tag }) => {
      const session = parseSessionParameters(request.params)
      tag(sessionTags(session))
      const source = await sources.session(session, signal)
      const format = chooseImageFormat(request.headers.accept)
      return answerThumbnail(source && (await thumbnails.session(source, { format, signal })))
    },
  }
}

/** Other sites may show it: feeds, oEmbed and share cards name it. @throws AppError `not_found` */
export function answerThumbnail(thumbnail: Leased<Thumbnail> | undefined): Answer {
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

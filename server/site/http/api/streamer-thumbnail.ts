// GET /api/thumbnail-streamer/…: a streamer's thumbnail, in the best format for the client.
import { pathPatterns } from '../../../../shared/paths.ts'
import { chooseImageFormat } from '../../../decode/thumbnails/image-format.ts'
import { streamerTags } from '../../purge/cache-tags.ts'
import type { Endpoint } from '../responses/answer.ts'
import { parseName } from '../session-parameters.ts'
import { answerThumbnail } from './thumbnail.ts'
import type { ThumbnailEndpointSources } from './thumbnail.ts'

export function createStreamerThumbnailEndpoint(options: ThumbnailEndpointSources): Endpoint {
  const { thumbnails, sources } = options
  return {
    path: pathPatterns.streamerThumbnail,
    kind: 'thumbnail',
    admission: 'inside',
    answer: async ({ request, signal, tag }) => {
      const streamer = parseName(request.params, 'streamer')
      tag(streamerTags(streamer))
      const source = await sources.streamer(streamer, signal)
      const format = chooseImageFormat(request.headers.accept)
      return answerThumbnail(source && (await thumbnails.streamer(source, { format, signal })))
    },
  }
}

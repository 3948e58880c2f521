// GET /api/details/{streamer}: what the page shows of a streamer besides the lists.
import { pathPatterns } from '../../../../shared/paths.ts'
import { streamerTags } from '../../purge/cache-tags.ts'
import type { ApiSources } from './api-sources.ts'
import { answerJson } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'
import { parseName } from '../session-parameters.ts'

export function createDetailsEndpoint(sources: ApiSources): Endpoint {
  const { streamerDetails, versions, admission } = sources
  return {
    path: pathPatterns.details,
    kind: 'list',
    admission: admission.recordings,
    answer: async ({ request, signal }) => {
      const streamer = parseName(request.params, 'streamer')
      const profile = await streamerDetails.profile(streamer, signal)
      const version = `${versions.streamer(streamer, 'now')} ${JSON.stringify(profile)}`
      return answerJson({
        cached: { key: `details ${streamer}`, version },
        format: () => {
          const { details, validUntilMs } = streamerDetails.list(streamer, profile)
          return { text: JSON.stringify(details), validUntilMs }
        },
        tags: () => streamerTags(streamer),
      })
    },
  }
}

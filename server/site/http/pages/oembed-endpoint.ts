// GET /oembed: how other sites find the embedded player.
import { outsidePatterns } from '../../../../shared/paths.ts'
import { AppError, UnplayableError } from '../../../base/errors.ts'
import { sessionTags } from '../../purge/cache-tags.ts'
import { answerJson, JSON_TYPE } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'
import { errorResponse } from '../responses/errors.ts'
import { formatOembed, parseOembedRequest, textIn } from './oembed.ts'
import type { PageOptions } from './page-sources.ts'

export function createOembedEndpoint(options: PageOptions): Endpoint {
  const { catalog, site, facts, publicUrl } = options
  return {
    path: outsidePatterns.oembed,
    kind: 'oembed',
    answer: async ({ request, tag }) => {
      if ((textIn(request.query, 'format') ?? 'json') !== 'json') {
        const refusal = errorResponse('unsupported', "only the format 'json' is supported")
        return {
          status: 501,
          body: { kind: 'bytes', bytes: JSON.stringify(refusal) },
          type: JSON_TYPE,
          cache: 'never',
          security: 'page',
        }
      }
      const origin = publicUrl()
      const wanted = parseOembedRequest(request.query, origin)
      tag(sessionTags(wanted.session))
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
      // Scripts of other sites may read what their servers may read.
      return { ...answerJson({ format: () => JSON.stringify(body) }), security: 'anywhere' }
    },
  }
}

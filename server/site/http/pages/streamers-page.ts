// GET /: the page with the list of streamers.
import { pathPatterns } from '../../../../shared/paths.ts'
import type { Endpoint } from '../responses/answer.ts'
import { parsePageNumber } from './list-links.ts'
import type { PageSources } from './page-sources.ts'

export function createStreamersPage({ lists, heads, answerPage }: PageSources): Endpoint {
  return {
    path: pathPatterns.streamersPage,
    kind: 'page',
    answer: ({ request }) => {
      const list = lists.streamers(parsePageNumber(request.query))
      return list === undefined
        ? answerPage(heads.missing(), 404)
        : answerPage(heads.streamers(list))
    },
  }
}

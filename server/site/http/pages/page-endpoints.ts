// GET of the pages: the list of streamers, the list of a streamer's sessions, a session, and the
// embedded player alone.
import { outsidePatterns, pathPatterns, playerPagePath } from '../../../../shared/paths.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import { isAppError } from '../../../base/errors.ts'
import type { Catalog, SessionRow } from '../../../library/catalog/catalog.ts'
import { sessionTags, streamerTags } from '../../purge/cache-tags.ts'
import type { Endpoint } from '../responses/answer.ts'
import { parseName, parseSessionParameters } from '../session-parameters.ts'
import { parsePageNumber } from './list-links.ts'
import type { SessionFacts } from './page-facts.ts'
import { isUnplayable } from './page-heads.ts'
import type { SessionPage } from './page-heads.ts'
import type { PageContent } from './page-shell.ts'
import type { PageSources } from './page-sources.ts'

export function createStreamersPage(sources: PageSources): Endpoint {
  const { versions, lists, heads, answerPage } = sources
  return {
    path: pathPatterns.streamersPage,
    kind: 'page',
    answer: ({ request }) => {
      const number = parsePageNumber(request.query)
      const version = versions.site('now')
      const list = lists.streamers(number)
      if (list === undefined) return answerPage(heads.missing, 404)
      const content = () => heads.streamers(list)
      return answerPage({ key: `streamers ${number}`, version: [version], content })
    },
  }
}

export function createSessionsPage(sources: PageSources): Endpoint {
  const { catalog, versions, lists, facts, heads, answerPage } = sources
  return {
    path: pathPatterns.sessionsPage,
    kind: 'page',
    answer: async ({ request, tag }) => {
      const streamer = parseName(request.params, 'streamer')
      tag(streamerTags(streamer))
      const isListed = catalog.hasStreamer(streamer)
      const number = parsePageNumber(request.query)
      const version = versions.streamer(streamer, 'now')
      const list = isListed ? lists.sessions(streamer, number) : undefined
      const known = list && (await facts.streamer(streamer))
      const content = () => heads.sessions({ streamer, facts: known, list })
      const page = {
        key: `sessions ${number} ${streamer}`,
        version: [version, known, isListed],
        content,
      }
      // The same page with the true status: crawlers must drop a removed streamer.
      return answerPage(page, list === undefined ? 404 : 200)
    },
  }
}

export function createPlayerPage(sources: PageSources): Endpoint {
  const content = (page: SessionPage) => sources.heads.player(page)
  return createSessionPage(sources, { path: pathPatterns.playerPage, content })
}

/** With other sessions beside it, which the page itself loads. */
export function createWatchPage(sources: PageSources): Endpoint {
  const content = (page: SessionPage) => sources.heads.watch(page)
  return createSessionPage(sources, { path: pathPatterns.watchPage, content })
}

interface SessionPageOptions {
  path: string
  content(this: void, page: SessionPage): PageContent
}

function createSessionPage(sources: PageSources, { path, content }: SessionPageOptions): Endpoint {
  const { catalog, facts, answerPage } = sources
  return {
    path,
    kind: 'page',
    answer: async ({ request, tag }) => {
      const session = parseSessionParameters(request.params)
      tag(sessionTags(session))
      const row = catalog.findSession(session)
      const known = row && !isUnplayable(row) ? await facts.session(row) : undefined
      const { key, version, shown } = describePage(session, row, known)
      const page = { key: `${path} ${key}`, version, content: () => content(shown) }
      if (row === undefined) return answerPage(page, 404)
      return answerPage(page, isUnplayable(row) ? 422 : 200)
    },
  }
}

export function createEmbedPage({ catalog, facts, heads, answerEmbed }: PageSources): Endpoint {
  return {
    path: outsidePatterns.embedPage,
    kind: 'page',
    answer: async ({ request, tag }) => {
      const session = parseSessionParameters(request.params)
      tag(sessionTags(session))
      const { status, row } = findRow(catalog, session)
      const known = status === 200 && row ? await facts.session(row) : undefined
      const page = describePage(session, row, known)
      return answerEmbed({ ...page, content: () => heads.embed(page.shown) }, status)
    },
  }
}

/** What the page of a session shows, and by which version it is cached. */
function describePage(
  session: SessionReference,
  row: SessionRow | undefined,
  facts: SessionFacts | undefined,
) {
  const isGrowing = row !== undefined && row.settlesAtMs > Date.now()
  return {
    key: playerPagePath(session),
    version: [JSON.stringify(row), facts, isGrowing],
    shown: { session, row, facts, isGrowing },
  }
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

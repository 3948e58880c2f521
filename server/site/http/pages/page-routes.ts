// What is not an endpoint: unknown paths and errors as pages, redirects, and the built files.
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { apiPrefix, outsidePatterns, pathPatterns } from '../../../../shared/paths.ts'
import { isAppError } from '../../../base/errors.ts'
import { cacheRules } from '../responses/answer.ts'
import { sendError, errorResponse } from '../responses/errors.ts'
import type { Responder } from '../responses/responder.ts'
import { belowBasePath } from '../site/base-path.ts'
import type { Site } from '../site/site.ts'
import type { BuiltPage } from './built-page.ts'
import type { PageSources } from './page-sources.ts'

/** Handles unknown paths and errors, also of routes that are added later. */
export function addFallbacks(
  app: FastifyInstance,
  { heads, answerPage }: Pick<PageSources, 'heads' | 'answerPage'>,
  responder: Responder,
): void {
  app.setNotFoundHandler(async (request, reply) => {
    if (isPageRequest(request)) {
      request.kind = 'page'
      return responder.send(request, reply, answerPage(heads.missing, 404))
    }
    return reply
      .code(404)
      .header('cache-control', cacheRules.never)
      .send(errorResponse('not_found', 'there is nothing here'))
  })

  app.setErrorHandler(async (error, request, reply) => {
    if (!isPageRequest(request) || !isAppError(error, 'invalid', 'gone')) {
      return sendError(error, request, reply)
    }
    request.kind = 'page'
    const status = error.code === 'gone' ? 410 : 400
    return responder.send(request, reply, answerPage(heads.missing, status))
  })
}

/** Of a person, who needs a page as a response: not of the API, and not of a program. */
function isPageRequest({ method, url, kind }: FastifyRequest): boolean {
  const isForPrograms = url.startsWith(apiPrefix) || kind === 'feed' || kind === 'oembed'
  return ['GET', 'HEAD'].includes(method) && !isForPrograms
}

/** One URL per page: without a slash at the end. */
export function addRedirects(app: FastifyInstance, { basePath }: Site): void {
  const formatPath = belowBasePath(basePath)
  const { sessionsPage, playerPage, watchPage } = pathPatterns
  const patterns = [sessionsPage, playerPage, watchPage, outsidePatterns.embedPage]
  for (const pattern of patterns) {
    app.get(`${pattern}/`, async (request, reply) => {
      request.kind = 'page'
      const url = request.url.replace(/\/(?=\?|$)/, '')
      return reply.header('cache-control', cacheRules.revalidate).redirect(formatPath(url), 301)
    })
  }
}

/** Adds the built files and the icons to a scope. */
export async function addBuiltFiles(scope: FastifyInstance, page: BuiltPage): Promise<void> {
  await scope.register(fastifyStatic, {
    root: page.assetsFolders,
    prefix: '/assets/',
    dotfiles: 'deny',
    immutable: true,
    maxAge: '365d',
    index: false,
    preCompressed: true,
    decorateReply: false,
  })
  await scope.register(fastifyStatic, { root: page.folder, serve: false })
  for (const name of page.rootFiles) {
    scope.get(`/${name}`, async (_request, reply) => reply.sendFile(name, { maxAge: '1d' }))
  }
}

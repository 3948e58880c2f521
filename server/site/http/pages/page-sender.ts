// Sends pages; popular ones are formatted and compressed once.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createTextCache, sendText, TextResponse } from '../responses/text-response.ts'
import type { TextResponseOptions } from '../responses/text-response.ts'
import type { Site } from '../site/site.ts'
import { formatPage, placeShell } from './page-shell.ts'
import type { PageContent, PageShell } from './page-shell.ts'

export type SendPage = (
  this: void,
  request: FastifyRequest,
  reply: FastifyReply,
  content: PageContent,
) => FastifyReply | Promise<FastifyReply>

interface PageSenderOptions {
  shell: PageShell
  site: Site
  headers: TextResponseOptions['headers']
}

/** Memory of the pages that are ready to be sent. */
const MAX_PAGES_BYTES = 8 * 1024 * 1024
const HTML_TYPE = 'text/html; charset=utf-8'

export function createPageSender({ shell, site, headers }: PageSenderOptions): SendPage {
  const placed = placeShell(shell, site.basePath)
  const pages = createTextCache(MAX_PAGES_BYTES)
  return (request, reply, content) => {
    request.kind = 'page'
    const key = createHash('sha256').update(JSON.stringify(content)).digest('base64')
    const html =
      pages.get(key) ??
      new TextResponse(formatPage(placed, site, content), {
        contentType: HTML_TYPE,
        cacheControl: 'no-cache',
        headers,
      })
    pages.set(key, html)
    return sendText(request, reply, html)
  }
}

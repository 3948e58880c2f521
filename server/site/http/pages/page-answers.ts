// The responses with a page: popular ones are formatted and compressed once.
import { createHash } from 'node:crypto'
import type { Answer } from '../responses/answer.ts'
import type { Site } from '../site/site.ts'
import { formatPage, placeShell } from './page-shell.ts'
import type { PageContent, PageShell } from './page-shell.ts'

/** The response with a page of this content. */
export type AnswerPage = (this: void, content: PageContent, status?: number) => Answer

interface PageAnswerOptions {
  shell: PageShell
  site: Site
  security: 'page' | 'embed'
}

export function createPageAnswers({ shell, site, security }: PageAnswerOptions): AnswerPage {
  const placed = placeShell(shell, site.basePath)
  return (content, status = 200) => {
    const hash = createHash('sha256').update(JSON.stringify(content)).digest('base64')
    return {
      status,
      body: {
        kind: 'text',
        cached: { key: `${security} ${hash}`, version: '' },
        format: () => formatPage(placed, site, content),
      },
      type: 'text/html; charset=utf-8',
      cache: 'revalidate',
      security,
    }
  }
}

// What the endpoints of pages share, and their responses: popular ones are formatted and compressed
// once.
import type { AdsConfig, ConfigResponse } from '../../../../shared/contract.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import { CatalogVersions } from '../site/catalog-versions.ts'
import type { Site } from '../site/site.ts'
import type { BuiltPage } from './built-page.ts'
import { ListLinks } from './list-links.ts'
import type { PageFacts } from './page-facts.ts'
import { PageHeads } from './page-heads.ts'
import type { Answer } from '../responses/answer.ts'
import { formatPage, placeShell } from './page-shell.ts'
import type { Page, PageShell } from './page-shell.ts'

export interface PageOptions {
  catalog: Catalog
  page: BuiltPage
  config: ConfigResponse
  site: Site
  facts: PageFacts
  /** Public origin of the site, without a trailing slash. */
  publicUrl: () => string
}

export interface PageSources extends Pick<PageOptions, 'catalog' | 'facts'> {
  versions: CatalogVersions
  heads: PageHeads
  lists: ListLinks
  answerPage: AnswerPage
  /** With a page of the embedded player. */
  answerEmbed: AnswerPage
}

export function createPageSources(options: PageOptions): PageSources {
  const { catalog, facts, page, config, site, publicUrl } = options
  const heads = new PageHeads({
    site,
    publicUrl,
    firstScript: page.firstScript,
    playerScripts: page.playerScripts,
    embedScripts: page.embed.playerScripts,
    hasBanners: showsBanners(config.ads),
  })
  return {
    catalog,
    versions: new CatalogVersions(catalog),
    facts,
    heads,
    lists: new ListLinks(catalog),
    answerPage: createPageAnswers({ shell: page.shell, site, publicUrl, security: 'page' }),
    answerEmbed: createPageAnswers({
      shell: page.embed.shell,
      site,
      publicUrl,
      security: 'embed',
    }),
  }
}

function showsBanners(ads: AdsConfig): boolean {
  return ads.provider !== 'none' && ads.scriptPath !== undefined && ads.zones.banner !== undefined
}

/** The response with a page. Default status 200. */
export type AnswerPage = (this: void, page: Page, status?: number) => Answer

interface PageAnswerOptions {
  shell: PageShell
  site: Site
  publicUrl: () => string
  security: 'page' | 'embed'
}

function createPageAnswers(options: PageAnswerOptions): AnswerPage {
  const { shell, site, publicUrl, security } = options
  const placed = placeShell(shell, site.basePath)
  return ({ key, version, content }, status = 200) => ({
    status,
    body: {
      kind: 'text',
      cached: { key: `${security} ${key}`, version: [publicUrl(), ...version] },
      format: () => formatPage(placed, site, content()),
    },
    type: 'text/html; charset=utf-8',
    cache: 'revalidate',
    security,
  })
}

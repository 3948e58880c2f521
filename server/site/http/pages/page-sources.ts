// What the endpoints of pages share.
import type { AdsConfig, ConfigResponse } from '../../../../shared/contract.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import type { Site } from '../site/site.ts'
import type { BuiltPage } from './built-page.ts'
import { ListLinks } from './list-links.ts'
import { createPageAnswers } from './page-answers.ts'
import type { AnswerPage } from './page-answers.ts'
import type { PageFacts } from './page-facts.ts'
import { PageHeads } from './page-heads.ts'

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
    playerScripts: page.playerScripts,
    embedScripts: page.embed.playerScripts,
    hasBanners: showsBanners(config.ads),
  })
  return {
    catalog,
    facts,
    heads,
    lists: new ListLinks(catalog),
    answerPage: createPageAnswers({ shell: page.shell, site, security: 'page' }),
    answerEmbed: createPageAnswers({ shell: page.embed.shell, site, security: 'embed' }),
  }
}

function showsBanners(ads: AdsConfig): boolean {
  return ads.provider !== 'none' && ads.scriptPath !== undefined && ads.zones.banner !== undefined
}

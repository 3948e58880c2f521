// The page's HTML: the built shell with the head of one route. Pure; it does not render the page.
import { createHash } from 'node:crypto'
import { escapeMarkup } from '../../shared/escape-markup.ts'

/** The head of one route. */
export interface PageHead {
  title: string
  description: string
  /** Public URL of the page. */
  canonicalUrl: string
  /** Image for share cards. */
  imageUrl?: string
  openGraphType: 'website' | 'video.other'
  /** Resources that the page requests first. */
  preloads: readonly Preload[]
  /** The layout has banners, and reserves their space from the first paint on. */
  hasBanners: boolean
  /** schema.org data (JSON-LD). */
  structuredData?: object
}

export type Preload = { kind: 'fetch'; path: string } | { kind: 'script'; path: string }

/** The built shell, split at its head. */
export interface PageShell {
  before: string
  after: string
  /** CSP source of each inlined style. */
  styleHashes: readonly string[]
}

const HEAD_REGION = /<!--head-->[\s\S]*<!--\/head-->/
const STYLESHEET = /<link rel="stylesheet"[^>]*href="(?<href>[^"]+)"[^>]*>/g

/**
 * Splits the built index.html at its head. Inlines its styles, so that the first paint needs no
 * other request.
 *
 * @param readStyle returns the content of a linked stylesheet
 * @throws Error if the shell has no marked head: it was not built from this source
 */
export function parsePageShell(html: string, readStyle: (href: string) => string): PageShell {
  const styleHashes: string[] = []
  const inlined = html.replaceAll(STYLESHEET, (_link, href: string) => {
    const style = readStyle(href)
    styleHashes.push(`'sha256-${createHash('sha256').update(style).digest('base64')}'`)
    return `<style>${style}</style>`
  })
  const [before, after] = inlined.split(HEAD_REGION)
  if (before === undefined || after === undefined) throw new Error('the page has no marked head')
  return { before, after, styleHashes }
}

/** The whole page for one route. */
export function formatPage(shell: PageShell, head: PageHead): string {
  const tags = [
    `<title>${escapeMarkup(head.title)}</title>`,
    meta('name', 'description', head.description),
    `<link rel="canonical" href="${escapeMarkup(head.canonicalUrl)}">`,
    meta('property', 'og:type', head.openGraphType),
    meta('property', 'og:site_name', 'Aftercast'),
    meta('property', 'og:title', head.title),
    meta('property', 'og:description', head.description),
    meta('property', 'og:url', head.canonicalUrl),
    ...imageTags(head.imageUrl),
    ...(head.hasBanners ? [meta('name', 'banner-slots', 'reserved')] : []),
    ...head.preloads.map(preloadTag),
    ...structuredDataTags(head.structuredData),
  ]
  return shell.before + tags.join('\n    ') + shell.after
}

function imageTags(imageUrl: string | undefined): string[] {
  if (imageUrl === undefined) return [meta('name', 'twitter:card', 'summary')]
  return [
    meta('property', 'og:image', imageUrl),
    meta('name', 'twitter:card', 'summary_large_image'),
  ]
}

function preloadTag(preload: Preload): string {
  const path = escapeMarkup(preload.path)
  if (preload.kind === 'script') return `<link rel="modulepreload" href="${path}">`
  return `<link rel="preload" as="fetch" href="${path}" crossorigin="anonymous">`
}

/** Escapes `<`: a name may contain `</script>`. */
function structuredDataTags(data: object | undefined): string[] {
  if (data === undefined) return []
  const json = JSON.stringify(data).replaceAll('<', String.raw`\u003c`)
  return [`<script type="application/ld+json">${json}</script>`]
}

function meta(attribute: 'name' | 'property', key: string, content: string): string {
  return `<meta ${attribute}="${key}" content="${escapeMarkup(content)}">`
}

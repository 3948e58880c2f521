// The head of a page: title, link preview, alternates, preloads and structured data. Pure.
import { escapeMarkup } from '../../../../shared/escape-markup.ts'
import { belowBasePath } from '../site/base-path.ts'
import type { FormatPath } from '../site/base-path.ts'
import type { Site } from '../site/site.ts'

/** The head of one route. */
export interface PageHead {
  /** Without the name of the site. */
  title: string
  description: string
  /** Public URL of the page. */
  canonicalUrl: string
  image: PageImage
  openGraph: OpenGraph
  /** Absent: there is something on the page for search engines. */
  robots?: 'noindex' | 'noindex, indexifembedded'
  /** The same content in other forms. */
  alternates: readonly Alternate[]
  /** Resources that the page requests first. */
  preloads: readonly Preload[]
  /** The layout has banners, and reserves their space from the first paint on. */
  hasBanners: boolean
  /** schema.org data (JSON-LD). */
  structuredData: readonly object[]
}

/** Image for link previews. */
export interface PageImage {
  url: string
  /** In pixels; absent while unknown. */
  size?: Size | undefined
  /** `summary`: a small square beside the text. `large`: above the text. */
  card: 'summary' | 'large'
}

export interface Size {
  width: number
  height: number
}

/** Open Graph type with its own properties (https://ogp.me). */
export type OpenGraph =
  | { type: 'website' }
  | {
      type: 'video.other'
      /** URL of a page with the player alone. */
      embedUrl: string
      embedSize: Size
      durationSeconds?: number | undefined
      /** ISO 8601 with zone. */
      releaseDate?: string | undefined
    }

export interface Alternate {
  type: 'application/rss+xml' | 'application/json+oembed'
  title: string
  href: string
}

/** What a page loads early: an image or data, a script, or a script that runs at once. */
export interface Preload {
  kind: 'image' | 'fetch' | 'script' | 'run'
  path: string
}

/** The tags that replace the head region of the shell. */
export function formatHead(head: PageHead, { name: siteName, basePath }: Site): string {
  const formatPath = belowBasePath(basePath)
  const { title, description, canonicalUrl, robots } = head
  const tags = [
    `<title>${escapeMarkup(`${title} · ${siteName}`)}</title>`,
    meta('name', 'description', description),
    ...(robots ? [meta('name', 'robots', robots)] : []),
    `<link rel="canonical" href="${escapeMarkup(canonicalUrl)}">`,
    ...openGraphTags(head, siteName),
    meta('name', 'twitter:card', head.image.card === 'large' ? 'summary_large_image' : 'summary'),
    meta('name', 'twitter:title', title),
    meta('name', 'twitter:description', description),
    meta('name', 'twitter:image', head.image.url),
    meta('name', 'twitter:image:alt', title),
    ...head.alternates.map(alternateTag),
    ...(head.hasBanners ? [meta('name', 'banner-slots', 'reserved')] : []),
    ...head.preloads.map((preload) => preloadTag(preload, formatPath)),
    ...head.structuredData.map(structuredDataTag),
  ]
  return tags.join('\n    ')
}

function openGraphTags(head: PageHead, siteName: string): string[] {
  const { title, description, canonicalUrl, image, openGraph } = head
  return [
    meta('property', 'og:type', openGraph.type),
    meta('property', 'og:site_name', siteName),
    meta('property', 'og:title', title),
    meta('property', 'og:description', description),
    meta('property', 'og:url', canonicalUrl),
    meta('property', 'og:image', image.url),
    ...sizeTags('og:image', image.size),
    meta('property', 'og:image:alt', title),
    ...videoTags(openGraph),
  ]
}

function videoTags(openGraph: OpenGraph): string[] {
  if (openGraph.type === 'website') return []
  const { embedUrl, embedSize, durationSeconds, releaseDate } = openGraph
  return [
    meta('property', 'og:video', embedUrl),
    ...(embedUrl.startsWith('https:') ? [meta('property', 'og:video:secure_url', embedUrl)] : []),
    meta('property', 'og:video:type', 'text/html'),
    ...sizeTags('og:video', embedSize),
    ...(durationSeconds === undefined
      ? []
      : [meta('property', 'video:duration', String(Math.max(1, Math.round(durationSeconds))))]),
    ...(releaseDate === undefined ? [] : [meta('property', 'video:release_date', releaseDate)]),
  ]
}

function sizeTags(property: string, size: Size | undefined): string[] {
  if (size === undefined) return []
  return [
    meta('property', `${property}:width`, String(size.width)),
    meta('property', `${property}:height`, String(size.height)),
  ]
}

function alternateTag({ type, title, href }: Alternate): string {
  const [address, label] = [escapeMarkup(href), escapeMarkup(title)]
  return `<link rel="alternate" type="${type}" href="${address}" title="${label}">`
}

function preloadTag(preload: Preload, formatPath: FormatPath): string {
  const path = escapeMarkup(formatPath(preload.path))
  if (preload.kind === 'run') return `<script type="module" async src="${path}"></script>`
  if (preload.kind === 'script') return `<link rel="modulepreload" href="${path}">`
  if (preload.kind === 'image') {
    return `<link rel="preload" as="image" href="${path}" fetchpriority="high">`
  }
  return `<link rel="preload" as="fetch" href="${path}" crossorigin="anonymous">`
}

/** Escapes `<`: a name may contain `</script>`. */
function structuredDataTag(data: object): string {
  const json = JSON.stringify(data).replaceAll('<', String.raw`\u003c`)
  return `<script type="application/ld+json">${json}</script>`
}

function meta(attribute: 'name' | 'property', key: string, content: string): string {
  return `<meta ${attribute}="${key}" content="${escapeMarkup(content)}">`
}

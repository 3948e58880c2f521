// The page's HTML: the built shell with what differs between routes. Pure; it does not render the
// page.
import { createHash } from 'node:crypto'
import { escapeMarkup } from '../../../../shared/escape-markup.ts'
import { addBasePathToHtml, belowBasePath } from '../site/base-path.ts'
import type { FormatPath } from '../site/base-path.ts'
import type { Site } from '../site/site.ts'
import { formatHead } from './page-head.ts'
import type { PageHead } from './page-head.ts'

/** A page, formatted again only for another version. */
export interface Page {
  /** Names it among all pages. */
  key: string
  /** All that its content depends on. */
  version: readonly unknown[]
  content(this: void): PageContent
}

/** What differs between the pages of one route. */
export interface PageContent {
  head: PageHead
  /** For visitors and crawlers without JavaScript. */
  links?: PageLinks
  /** Path of the image in the room of the video, until the page has its own. */
  posterPath?: string | undefined
  /** Path of the playlist, for browsers that play HLS and run no script, and for downloaders. */
  playlistPath?: string
}

/** Links of a page, at most some dozens. */
export interface PageLinks {
  heading: string
  items: readonly Link[]
  /** To the other pages of a long list, and to the parent page. */
  others: readonly Link[]
}

export interface Link {
  path: string
  text: string
}

/** The built shell, split at its regions. */
export interface PageShell {
  parts: readonly ShellPart[]
  /** CSP source of each inlined style. */
  styleHashes: readonly string[]
}

const REGIONS = ['head', 'links', 'name', 'contact', 'poster'] as const
type Region = (typeof REGIONS)[number]
type ShellPart = { text: string } | { region: Region }

const REGION = new RegExp(`<!--(?<region>${REGIONS.join('|')})-->`, 'g')
const STYLESHEET = /<link rel="stylesheet"[^<>]*>/g
const HREF = /\shref="([^"]+)"/

/**
 * Splits a built page at its regions. Inlines its styles, so that the first paint needs no other
 * request.
 *
 * @param readStyle returns the content of a linked stylesheet
 * @throws Error if the shell has no marked head: it was not built from this source
 */
export function parsePageShell(html: string, readStyle: (href: string) => string): PageShell {
  const styleHashes: string[] = []
  const inlined = html.replaceAll(STYLESHEET, (link) => {
    const style = readStyle(HREF.exec(link)?.[1] ?? '')
    styleHashes.push(`'sha256-${createHash('sha256').update(style).digest('base64')}'`)
    return `<style>${style}</style>`
  })
  const parts = splitAtRegions(inlined)
  if (!parts.some((part) => 'region' in part && part.region === 'head')) {
    throw new Error('the page has no marked head')
  }
  return { parts, styleHashes }
}

function splitAtRegions(html: string): ShellPart[] {
  const parts: ShellPart[] = []
  let end = 0
  for (const found of html.matchAll(REGION)) {
    const region = REGIONS.find((name) => name === found.groups?.['region']) ?? 'head'
    parts.push({ text: html.slice(end, found.index) }, { region })
    const endMark = `<!--/${region}-->`
    end = html.indexOf(endMark, found.index) + endMark.length
  }
  return [...parts, { text: html.slice(end) }]
}

/** The shell with the URLs that it has below a base path. */
export function placeShell(shell: PageShell, basePath: string): PageShell {
  const place = (part: ShellPart): ShellPart =>
    'text' in part ? { text: addBasePathToHtml(part.text, basePath) } : part
  return { ...shell, parts: shell.parts.map(place) }
}

/** The whole page. */
export function formatPage(shell: PageShell, site: Site, content: PageContent): string {
  const { head, posterPath } = content
  const regions: Record<Region, () => string> = {
    head: () => formatHead(head, site),
    links: () => formatScriptless(site, content),
    name: () => escapeMarkup(site.name),
    contact: () => formatContact(site),
    poster: () => formatPoster(site, posterPath),
  }
  return shell.parts.map((part) => ('text' in part ? part.text : regions[part.region]())).join('')
}

function formatContact({ contactUrl }: Site): string {
  return contactUrl === undefined ? '' : `<a href="${escapeMarkup(contactUrl)}">Contact</a>`
}

function formatPoster({ basePath }: Site, path: string | undefined): string {
  if (path === undefined) return ''
  const url = belowBasePath(basePath)(path)
  const image = `<image href="${escapeMarkup(url)}" width="100%" height="100%"/>`
  return `<svg aria-hidden="true">${image}</svg>`
}

/** The content of `noscript`. */
function formatScriptless(site: Site, { links, playlistPath, posterPath }: PageContent): string {
  const formatPath = belowBasePath(site.basePath)
  const format = linkFormatter(formatPath)
  const name = escapeMarkup(site.name)
  const note = `<p>${name} needs JavaScript to list and play recordings.</p>`
  if (links === undefined) return note
  const items = links.items.map((link) => `<li>${format(link)}</li>`)
  const heading = `<h1>${escapeMarkup(links.heading)}</h1>`
  return [
    ...(playlistPath === undefined
      ? [note, heading]
      : [
          '<p>Without JavaScript, this plays only in browsers with HLS, such as Safari.</p>',
          heading,
          formatVideo(formatPath, playlistPath, posterPath),
        ]),
    ...(items.length === 0 ? [] : [`<ul>${items.join('\n')}</ul>`]),
    ...(links.others.length === 0 ? [] : [`<p>${links.others.map(format).join(' ')}</p>`]),
  ].join('\n')
}

function formatVideo(formatPath: FormatPath, playlistPath: string, posterPath?: string): string {
  const poster = posterPath === undefined ? '' : ` poster="${escapeMarkup(formatPath(posterPath))}"`
  const source = escapeMarkup(formatPath(playlistPath))
  return `<video controls preload="none" src="${source}"${poster}></video>`
}

function linkFormatter(formatPath: FormatPath): (link: Link) => string {
  return ({ path, text }) => `<a href="${escapeMarkup(formatPath(path))}">${escapeMarkup(text)}</a>`
}

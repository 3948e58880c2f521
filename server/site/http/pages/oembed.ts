// The oEmbed 1.0 response of a session (https://oembed.com): the HTML by which another site embeds
// its player. Pure.
import { escapeMarkup } from '../../../../shared/escape-markup.ts'
import {
  embedPagePath,
  parseNames,
  sessionsPagePath,
  thumbnailApiPath,
} from '../../../../shared/paths.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import { parseSessionParameters } from '../session-parameters.ts'
import { sessionTitle } from '../site/session-text.ts'
import { EMBED_SIZE } from '../site/site.ts'
import type { Size } from './page-head.ts'

/** The parameters of a request. */
export interface OembedRequest {
  session: SessionReference
  /** Query of the embedded page: the linked moment, if there is one. */
  query: string
  maxWidth: number
  maxHeight: number
}

/** Section 2.3.4.2, type `video`. */
export interface OembedResponse {
  version: '1.0'
  type: 'video'
  title: string
  author_name: string
  author_url: string
  provider_name: string
  provider_url: string
  html: string
  width: number
  height: number
  thumbnail_url?: string
  thumbnail_width?: number
  thumbnail_height?: number
}

export interface OembedFacts {
  siteName: string
  /** Public origin of the site, without a trailing slash. */
  origin: string
  /** Of the session's sidecars. */
  title: string | undefined
  /** Of the thumbnail; undefined if there is none. */
  thumbnail: Size | undefined
}

const MAX_URL_LENGTH = 16 * 1024
/** As in player/visit/linked-range.ts; other values are ignored there too. */
const MOMENT = /^[\dhms.]{1,40}$/
const PERMISSIONS = 'autoplay; fullscreen; picture-in-picture; encrypted-media'

/**
 * The session that the URL of a player page names, on this site in http or https.
 *
 * @throws AppError `invalid` without a URL or with a malformed size, `not_found` for another URL
 */
export function parseOembedRequest(query: unknown, origin: string): OembedRequest {
  const url = textIn(query, 'url')
  if (url === undefined) throw new AppError('invalid', "'url' is missing")
  const target = url.length > MAX_URL_LENGTH ? null : URL.parse(url)
  const site = new URL(origin)
  const base = site.pathname.replace(/\/$/, '')
  const isHttp = target?.protocol === 'https:' || target?.protocol === 'http:'
  const isHere = isHttp && target.host === site.host && target.pathname.startsWith(`${base}/`)
  if (!isHere) throw noPlayerPage()
  return {
    session: parsePlayerPath(target.pathname.slice(base.length)),
    query: momentQuery(target.searchParams),
    maxWidth: sizeIn(query, 'maxwidth'),
    maxHeight: sizeIn(query, 'maxheight'),
  }
}

function parsePlayerPath(pathname: string): SessionReference {
  const [, root, streamer, date, sessionId, ...rest] = parseNames(pathname.replace(/\/$/, '')) ?? []
  if (root !== 'p' || rest.length > 0) throw noPlayerPage()
  try {
    return parseSessionParameters({ streamer, date, sessionId })
  } catch (cause) {
    throw new AppError('not_found', 'this is not the URL of a session', { cause })
  }
}

function noPlayerPage(): AppError {
  return new AppError('not_found', 'this is not the URL of a session')
}

function momentQuery(parameters: URLSearchParams): string {
  const kept = new URLSearchParams()
  for (const name of ['t', 'end']) {
    const value = parameters.get(name)
    if (value !== null && MOMENT.test(value)) kept.set(name, value)
  }
  return kept.size === 0 ? '' : `?${kept.toString()}`
}

/** Unlimited without the parameter. */
function sizeIn(query: unknown, name: string): number {
  const text = textIn(query, name)
  if (text === undefined) return Infinity
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new AppError('invalid', `'${name}' is not a size in pixels`)
  return Number(text)
}

/** A parameter that is given once; undefined if it is missing or empty. */
export function textIn(query: unknown, name: string): string | undefined {
  const values: object = typeof query === 'object' && query !== null ? query : {}
  const value: unknown = Reflect.get(values, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function formatOembed(request: OembedRequest, facts: OembedFacts): OembedResponse {
  const { session, query, maxWidth, maxHeight } = request
  const { origin, siteName, thumbnail } = facts
  const title = sessionTitle(session, facts.title)
  const size = fitInto(EMBED_SIZE, maxWidth, maxHeight)
  const src = origin + embedPagePath(session) + query
  // "The URL must respect any maxwidth and maxheight parameters."
  const isSmallEnough = thumbnail && thumbnail.width <= maxWidth && thumbnail.height <= maxHeight
  return {
    version: '1.0',
    type: 'video',
    title,
    author_name: session.streamer,
    author_url: origin + sessionsPagePath(session.streamer),
    provider_name: siteName,
    provider_url: `${origin}/`,
    html:
      `<iframe src="${escapeMarkup(src)}" width="${size.width}" height="${size.height}" ` +
      `title="${escapeMarkup(title)}" frameborder="0" allow="${PERMISSIONS}" ` +
      'allowfullscreen></iframe>',
    ...size,
    ...(isSmallEnough && {
      thumbnail_url: origin + thumbnailApiPath(session),
      thumbnail_width: thumbnail.width,
      thumbnail_height: thumbnail.height,
    }),
  }
}

/** Scaled down, never up. */
function fitInto({ width, height }: Size, maxWidth: number, maxHeight: number): Size {
  const scale = Math.min(1, maxWidth / width, maxHeight / height)
  const scaled = (length: number): number => Math.max(1, Math.floor(length * scale))
  return { width: scaled(width), height: scaled(height) }
}

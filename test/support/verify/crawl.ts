// Requests everything that a site has, for a comparison with another site.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionsResponse, streamersResponse } from '../../../shared/contract.ts'
import {
  configApiPath,
  detailsApiPath,
  embedPagePath,
  outsidePatterns,
  pathPatterns,
  playerPagePath,
  playlistApiPath,
  sessionApiPath,
  sessionsApiPath,
  sessionsPagePath,
  storyboardApiPath,
  streamerFeedPath,
  streamersApiPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import { parseExactly } from '../parse-exactly.ts'
import { patienceMs } from '../patience.ts'

/** Headers of one response or connection. All nodes of a site have to send the others equally. */
const OWN_HEADERS = new Set(['connection', 'date', 'keep-alive', 'server-timing'])
/** The first one is requested of each session, and is what nodes with artifacts render ahead. */
const FORMATS = ['image/avif', 'image/webp', 'image/jpeg']

/** Content types of what may reference files, or is parsed. */
const TEXT = /^text\/|json|xml|mpegurl/
/** Pause before a request is repeated. */
const RETRY_MS = 200

export interface CrawlOptions {
  /** Default all. */
  streamers?: readonly string[]
  /** Whose are requested. Default the first session of each streamer: decoding takes longest. */
  thumbnails?: 'first' | 'all'
  /** Other paths. */
  more?: readonly string[]
  /** Whether each path is also requested by HEAD, in part, compressed and conditionally. */
  variants?: boolean
  /** How long an incomplete response is requested again. Default `patienceMs`. */
  retryForMs?: number
}

/** Other requests for a path, by name; `etag` is that of the whole response. */
const VARIANTS: Record<string, (etag: string | null) => RequestInit> = {
  head: () => ({ method: 'HEAD' }),
  range: () => ({ headers: { range: 'bytes=7-300' } }),
  'range past the end': () => ({ headers: { range: 'bytes=99999999999-' } }),
  brotli: () => ({ headers: { 'accept-encoding': 'br' } }),
  conditional: (etag) => ({ headers: { 'if-none-match': etag ?? '*' } }),
  post: () => ({ method: 'POST' }),
}

/**
 * Lists, details, pages, thumbnails, storyboards, playlists, and all files that these reference:
 * status, headers and a digest of the body, by path and format.
 */
export async function crawl(
  url: string,
  {
    streamers: wanted,
    thumbnails = 'first',
    more = [],
    variants = false,
    retryForMs = patienceMs,
  }: CrawlOptions = {},
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  /** Paths of the details of sessions that are indexed. */
  const indexed = new Set<string>()
  /** Returns the body if it is text. */
  const visit = async (path: string, accept = '*/*'): Promise<string> => {
    const { response, body } = await fetchComplete(url + path, {
      accept,
      isIndexed: indexed.has(path),
      retryForMs,
    })
    found.set(`${path} ${accept}`, describe(response, body))
    for (const [name, variant] of variants ? Object.entries(VARIANTS) : []) {
      const other = await fetch(url + path, variant(response.headers.get('etag')))
      found.set(`${path} ${name}`, describe(other, Buffer.from(await other.arrayBuffer())))
    }
    return typeOf(response).match(TEXT) ? body.toString('utf8') : ''
  }
  const json = async (path: string): Promise<unknown> => JSON.parse(await visit(path))
  const site = [pathPatterns.streamersPage, outsidePatterns.siteFeed, '/robots.txt', '/sitemap.xml']
  const queue = new Set([configApiPath, ...site, ...more])
  const enqueue = (...paths: string[]): void => {
    for (const path of paths) queue.add(path)
  }
  const { streamers } = parseExactly(streamersResponse, await json(streamersApiPath))
  for (const { name: streamer } of streamers) {
    if (wanted?.includes(streamer) === false) continue
    const sessions = parseExactly(sessionsResponse, await json(sessionsApiPath(streamer)))
    const references = sessions.map((session) => ({ streamer, ...session }))
    for (const reference of references)
      if (reference.duration !== undefined) indexed.add(sessionApiPath(reference))
    // First: pages contain as much of a session as is known soon.
    enqueue(detailsApiPath(streamer), ...references.map(sessionApiPath))
    enqueue(sessionsPagePath(streamer), ...references.map(playerPagePath))
    enqueue(streamerFeedPath(streamer), ...references.slice(0, 1).flatMap(embeds))
    enqueue(...references.map(playlistApiPath), ...references.map(storyboardApiPath))
    const images = references.slice(0, thumbnails === 'first' ? 1 : undefined).map(thumbnailApiPath)
    await visit(streamerThumbnailApiPath(streamer))
    for (const [at, image] of images.entries()) {
      for (const format of at === 0 ? FORMATS : FORMATS.slice(0, 1)) await visit(image, format)
    }
  }
  for (const path of queue) {
    const text = await visit(path)
    const uris = [...text.matchAll(patternOf(text))]
    enqueue(...uris.map(([line, uri]) => new URL(uri ?? line, url + path).pathname))
  }
  return found
}

function describe(response: Response, body: Buffer): string[] {
  const digest = createHash('sha256').update(body).digest('hex')
  const headers = [...response.headers].filter(([name]) => !OWN_HEADERS.has(name))
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return [String(response.status), ...lines, digest]
}

/**
 * A busy server responds with 503, with the details of a session without its tracks, or with a page
 * without the size of its image. Then the request is repeated.
 */
async function fetchComplete(
  url: string,
  { accept, isIndexed, retryForMs }: { accept: string; isIndexed: boolean; retryForMs: number },
) {
  const untilMs = performance.now() + retryForMs
  for (;;) {
    const response = await fetch(url, { headers: { accept } })
    const body = Buffer.from(await response.arrayBuffer())
    const lacksTracks = isIndexed && response.ok && !body.includes('"durationSeconds"')
    const isPage = response.ok && typeOf(response).startsWith('text/html')
    const lacksSize = isPage && body.includes('og:image"') && !body.includes('og:image:width')
    const isComplete = response.status !== 503 && !lacksTracks && !lacksSize
    if (isComplete || performance.now() > untilMs) return { response, body }
    await sleep(RETRY_MS)
  }
}

function typeOf(response: Response): string {
  return response.headers.get('content-type') ?? ''
}

/** The crawled sites have one public URL. */
function embeds(session: SessionReference): string[] {
  const pageUrl = encodeURIComponent(`https://site.example${playerPagePath(session)}`)
  return [embedPagePath(session), `${outsidePatterns.oembed}?url=${pageUrl}&format=json`]
}

/** Matches what a file references. */
function patternOf(text: string): RegExp {
  if (text.startsWith('#EXTM3U')) return /^[^#\s].*$|URI="(?<uri>[^"]+)"/gm
  return text.startsWith('WEBVTT') ? /^tile-[^#]+/gm : /(?!)/g
}

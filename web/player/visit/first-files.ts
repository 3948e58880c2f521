// The first loads of a visited player page. They begin with the entry of the page, and not with
// hls.js: until its code has loaded and starts, a slow link would be idle.
import { parseSessionPath, playerPagePath } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import { chooseEngine, rememberedPlaylist } from '../engine/play-session.ts'
import { parseLinkedRange } from './linked-range.ts'
import { isDataSaverOn } from './session-preloader.ts'

/** Preloads for a document at `url` if it is a player page, and hls.js plays it from the start. */
export function preloadVisited(
  url: Pick<URL, 'pathname' | 'search'>,
  basePath: string,
  playlistUrl: (session: SessionReference) => string,
): void {
  const session = parseSessionPath(url.pathname)
  if (session === undefined || url.pathname !== basePath + playerPagePath(session)) return
  if (document.hidden || isDataSaverOn() || chooseEngine() !== 'hls') return
  if (parseLinkedRange(url.search).startSeconds !== undefined) return
  void preloadFirstFiles(rememberedPlaylist(playlistUrl(session)).url)
}

/**
 * Has the browser load what playback begins with: key, init segment and first segment of a media
 * playlist, or the first playlist of a multivariant one. Requests of the same URLs then get these
 * responses (Preload, `as=fetch`). Failures are left to those requests.
 */
async function preloadFirstFiles(playlistUrl: string): Promise<void> {
  const response = await fetch(playlistUrl).catch(() => undefined)
  const playlist = response?.ok ? await response.text().catch(() => '') : ''
  if (response === undefined || !reusesPreloads(response.url)) return
  for (const uri of firstFiles(playlist)) {
    const link = document.createElement('link')
    link.rel = 'preload'
    link.as = 'fetch'
    link.crossOrigin = 'anonymous'
    link.href = new URL(uri, response.url).href
    document.head.append(link)
  }
}

/** Whether a fetch was given what a link in the document had loaded. WebKit loads it again. */
function reusesPreloads(url: string): boolean {
  const loads = performance
    .getEntriesByName(url, 'resource')
    .filter((load) => 'transferSize' in load && load.transferSize !== 0)
  const [first] = loads
  const isByLink = first !== undefined && 'initiatorType' in first && first.initiatorType === 'link'
  return isByLink && loads.length === 1
}

/** URIs of the first key, init segment and media segment of a playlist (RFC 8216 4.3.2). */
export function firstFiles(playlist: string): string[] {
  const lines = playlist.split('\n')
  const uriOf = (tag: string): string => {
    const [, rest = ''] = lines.find((line) => line.startsWith(tag))?.split('URI="') ?? []
    return rest.split('"')[0] ?? ''
  }
  const media = lines.find((line) => line !== '' && !line.startsWith('#')) ?? ''
  return [uriOf('#EXT-X-KEY:'), uriOf('#EXT-X-MAP:'), media].filter(Boolean)
}

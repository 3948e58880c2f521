// The first loads of a visited player page. They begin with the entry of the page, and not with
// hls.js: on a slow link, its code and its start leave the line idle.
import { parseSessionKey, playerPagePath } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import { chooseEngine, rememberedPlaylist } from '../engine/play-session.ts'
import { parseLinkedRange } from './linked-range.ts'
import { isDataSaverOn } from './session-preloader.ts'

/** Preloads for a document at `url`, if it is a player page on which hls.js plays. */
export function preloadVisited(
  url: Pick<URL, 'pathname' | 'search'>,
  basePath: string,
  playlistUrl: (session: SessionReference) => string,
): void {
  const session = parseSessionKey(url.pathname.split('/').slice(-3).join('/'))
  if (session === undefined || url.pathname !== basePath + playerPagePath(session)) return
  if (document.hidden || isDataSaverOn() || chooseEngine() !== 'hls') return
  const { startSeconds = 0 } = parseLinkedRange(url.search)
  void preloadFirstFiles(rememberedPlaylist(playlistUrl(session)).url, startSeconds)
}

/**
 * Has the browser load what playback begins with: key, init segment and segment of a media
 * playlist, or the first playlist of a multivariant one. Requests of the same URLs then get these
 * responses (Preload, `as=fetch`). Failures are left to those requests.
 */
async function preloadFirstFiles(playlistUrl: string, startSeconds: number): Promise<void> {
  const response = await fetch(playlistUrl).catch(() => undefined)
  const playlist = response?.ok ? await response.text().catch(() => '') : ''
  if (response === undefined || !reusesPreloads(response.url)) return
  for (const uri of firstFiles(playlist, startSeconds)) {
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
  const loads = performance.getEntriesByName(url, 'resource')
  return loads.filter((load) => 'transferSize' in load && load.transferSize !== 0).length === 1
}

/**
 * URIs of the segment in a playlist that hls.js loads first, and of its key and init segment (RFC
 * 8216 4.3.2).
 */
export function firstFiles(playlist: string, startSeconds: number): string[] {
  let files: string[] = []
  let [key, map, endSeconds] = ['', '', 0]
  for (const line of playlist.split('\n')) {
    const uri = /URI="(?<uri>[^"]+)"/.exec(line)?.groups?.uri ?? ''
    if (line.startsWith('#EXT-X-KEY:')) key = uri
    else if (line.startsWith('#EXT-X-MAP:')) map = uri
    else if (line.startsWith('#EXTINF:')) endSeconds += Number.parseFloat(line.slice(8))
    else if (/^[^#\s]/.test(line)) {
      files = [key, map, line].filter(Boolean)
      if (endSeconds === 0 || endSeconds - SEGMENT_TOLERANCE_SECONDS > startSeconds) break
    }
  }
  return files
}

/** So close to the end of a segment, hls.js loads the next one (`maxFragLookUpTolerance`). */
const SEGMENT_TOLERANCE_SECONDS = 0.25

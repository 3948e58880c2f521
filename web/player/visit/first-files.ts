// The first loads of a visited player page: a script of their own, which loads before all others.
// Until the code of the page and hls.js have loaded and start, a slow link would be idle.
import { readStartPreferences } from '../../navigation/start-preferences.ts'
import { chooseEngine } from '../engine/choose-engine.ts'
import { isDataSaverOn } from './data-saver.ts'
import { parseLinkedRange } from './linked-range.ts'

/** Preloads for the document of a player page, if hls.js plays it. */
export function preloadVisited(): void {
  const announced = 'link[as="fetch"][href$="/playlist.m3u8"]'
  const playlist = document.querySelector<HTMLLinkElement>(announced)
  if (playlist === null || document.hidden || isDataSaverOn() || chooseEngine() !== 'hls') return
  // Another audio or quality has another playlist.
  const { audio, quality } = readStartPreferences()
  if (audio !== '' || quality !== '') return
  void preloadFirstFiles(playlist.href, parseLinkedRange(location.search).startSeconds)
}

/**
 * Has the browser load what playback begins with: key, init segment and first segment of a media
 * playlist, or the first playlist of a multivariant one. Requests of the same URLs then get these
 * responses (Preload, `as=fetch`). Failures are left to those requests.
 */
async function preloadFirstFiles(playlistUrl: string, startSeconds = 0): Promise<void> {
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
  const loads = performance
    .getEntriesByName(url, 'resource')
    .filter((load) => 'transferSize' in load && load.transferSize !== 0)
  const [first] = loads
  const isByLink = first !== undefined && 'initiatorType' in first && first.initiatorType === 'link'
  return isByLink && loads.length === 1
}

/**
 * URIs of the key, init segment and media segment that playback from `startSeconds` begins with
 * (RFC 8216 4.3.2); those of the first segment if this is after the end. Of a multivariant
 * playlist, the first media playlist.
 */
export function firstFiles(playlist: string, startSeconds = 0): string[] {
  let first: string[] | undefined
  let [key, init, endSeconds] = ['', '', 0]
  for (const line of playlist.split('\n')) {
    if (line.startsWith('#EXT-X-KEY:')) key = uriOf(line)
    else if (line.startsWith('#EXT-X-MAP:')) init = uriOf(line)
    else if (line.startsWith('#EXTINF:')) {
      endSeconds += Number.parseFloat(line.slice('#EXTINF:'.length))
    } else if (line !== '' && !line.startsWith('#')) {
      const files = [key, init, line].filter(Boolean)
      first ??= files
      if (endSeconds > startSeconds) return files
    }
  }
  return first ?? []
}

function uriOf(tag: string): string {
  const [, rest = ''] = tag.split('URI="')
  return rest.split('"')[0] ?? ''
}

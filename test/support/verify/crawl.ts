// Fetches everything that a site offers of its sessions.
import { createHash } from 'node:crypto'
import { sessionsResponse, streamersResponse } from '../../../shared/contract.ts'
import {
  playlistApiPath,
  sessionsApiPath,
  streamersApiPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../../../shared/paths.ts'
import { parseExactly } from '../parse-exactly.ts'

/** Headers that all nodes of a site have to send equally. */
const HEADERS = ['content-type', 'content-length', 'etag', 'cache-control', 'surrogate-key']

/** Of each streamer: decoding them takes longer than everything else. */
const THUMBNAILS = 1

/**
 * Lists, a few thumbnails, playlists, and all files that playlists reference: status, headers and a
 * digest of the body, by path.
 */
export async function crawl(url: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  const queue: string[] = []
  const visit = async (path: string): Promise<string> => {
    const response = await fetch(url + path)
    const body = Buffer.from(await response.arrayBuffer())
    const digest = createHash('sha256').update(body).digest('hex')
    const headers = HEADERS.map((name) => `${name}: ${response.headers.get(name)}`)
    found.set(path, [String(response.status), ...headers, digest])
    return body.toString('utf8')
  }
  const json = async (path: string): Promise<unknown> => JSON.parse(await visit(path))
  const { streamers } = parseExactly(streamersResponse, await json(streamersApiPath))
  for (const { name: streamer } of streamers) {
    queue.push(streamerThumbnailApiPath(streamer))
    const sessions = parseExactly(sessionsResponse, await json(sessionsApiPath(streamer)))
    const references = sessions.map((session) => ({ streamer, ...session }))
    queue.push(...references.map(playlistApiPath))
    queue.push(...references.slice(0, THUMBNAILS).map(thumbnailApiPath))
  }
  for (const path of queue) {
    const text = await visit(path)
    if (!text.startsWith('#EXTM3U')) continue
    const uris = [...text.matchAll(/^[^#\s].*$|URI="(?<uri>[^"]+)"/gm)]
    const paths = uris.map(([line, uri]) => new URL(uri ?? line, url + path).pathname)
    for (const next of paths) if (!queue.includes(next)) queue.push(next)
  }
  return found
}

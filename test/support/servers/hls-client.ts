// Fetches a playlist like a player, and its segments, decrypted.
import { createDecipheriv } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { patienceMs } from '../patience.ts'

/** Pause before what is not available yet is requested again. */
const RETRY_MS = 200

/** One segment of a playlist. URLs are absolute. */
export interface ListedSegment {
  url: string
  durationSeconds: number
  initUrl?: string
  key?: { url: string; iv: Buffer }
  isDiscontinuity: boolean
  /** EXT-X-PROGRAM-DATE-TIME in milliseconds since 1970. */
  startMs?: number
}

export interface ListedPlaylist {
  text: string
  targetDuration: number
  isEnded: boolean
  segments: ListedSegment[]
}

/**
 * Fetches and parses a playlist (RFC 8216); for a multivariant one, that of its first variant.
 * `request` is `fetch` where 503 is a failure; by default the request is repeated.
 */
export async function fetchPlaylist(
  url: string,
  request: (url: string) => Promise<Response> = fetchAvailable,
): Promise<ListedPlaylist> {
  const response = await request(url)
  if (!response.ok) throw new Error(`${response.status} for ${url}: ${await response.text()}`)
  const text = await response.text()
  const variant = /^#EXT-X-STREAM-INF:.*\n(?<uri>.+)$/m.exec(text)?.groups?.uri
  return variant === undefined
    ? parsePlaylist(text, url)
    : fetchPlaylist(resolve(variant, url), request)
}

function parsePlaylist(text: string, baseUrl: string): ListedPlaylist {
  const playlist: ListedPlaylist = { text, targetDuration: 0, isEnded: false, segments: [] }
  const state: {
    initUrl?: string
    key?: ListedSegment['key']
    duration: number
    isBreak: boolean
    startMs?: number | undefined
  } = {
    duration: 0,
    isBreak: false,
  }
  for (const line of text.split('\n')) {
    const [tag, value] = splitOnce(line, ':')
    if (tag === '#EXT-X-TARGETDURATION') playlist.targetDuration = Number(value)
    else if (tag === '#EXT-X-ENDLIST') playlist.isEnded = true
    else if (tag === '#EXT-X-DISCONTINUITY') state.isBreak = true
    else if (tag === '#EXT-X-MAP') state.initUrl = resolve(attribute(value, 'URI'), baseUrl)
    else if (tag === '#EXT-X-KEY') state.key = readKey(value, baseUrl)
    else if (tag === '#EXT-X-PROGRAM-DATE-TIME') state.startMs = Date.parse(value)
    else if (tag === '#EXTINF') state.duration = parseFloat(value)
    else if (line !== '' && !line.startsWith('#')) {
      playlist.segments.push({
        url: resolve(line, baseUrl),
        durationSeconds: state.duration,
        isDiscontinuity: state.isBreak,
        ...(state.startMs === undefined ? {} : { startMs: state.startMs }),
        ...(state.initUrl === undefined ? {} : { initUrl: state.initUrl }),
        ...(state.key === undefined ? {} : { key: state.key }),
      })
      state.isBreak = false
      state.startMs = undefined
    }
  }
  return playlist
}

function readKey(value: string, baseUrl: string): ListedSegment['key'] {
  if (value.includes('METHOD=NONE')) return undefined
  const iv = /IV=0x(?<hex>[0-9a-f]{32})/i.exec(value)?.groups?.hex
  if (iv === undefined || !value.includes('METHOD=AES-128')) throw new Error(`no key: ${value}`)
  return { url: resolve(attribute(value, 'URI'), baseUrl), iv: Buffer.from(iv, 'hex') }
}

function attribute(value: string, name: string): string {
  const found = new RegExp(`(?:^|,)${name}="(?<text>[^"]*)"`).exec(value)?.groups?.text
  if (found === undefined) throw new Error(`no ${name} in ${value}`)
  return found
}

/** Contract: URIs are relative and never start with `/`. */
function resolve(uri: string, baseUrl: string): string {
  if (uri.startsWith('/') || /^[a-z]+:/i.test(uri)) throw new Error(`not relative: ${uri}`)
  return new URL(uri, baseUrl).href
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** The decrypted bytes of a segment after those of its init: decodable alone. */
export async function fetchSegment(segment: ListedSegment): Promise<Buffer> {
  const init = segment.initUrl === undefined ? Buffer.alloc(0) : await fetchBytes(segment.initUrl)
  const bytes = await fetchBytes(segment.url)
  if (segment.key === undefined) return Buffer.concat([init, bytes])
  const decipher = createDecipheriv(
    'aes-128-cbc',
    await fetchBytes(segment.key.url),
    segment.key.iv,
  )
  return Buffer.concat([init, decipher.update(bytes), decipher.final()])
}

export async function fetchBytes(url: string): Promise<Buffer> {
  const response = await fetchAvailable(url)
  if (!response.ok) throw new Error(`${response.status} for ${url}`)
  return Buffer.from(await response.arrayBuffer())
}

/** Like a player, repeats a request that a busy server refuses with 503. */
export async function fetchAvailable(url: string): Promise<Response> {
  const untilMs = performance.now() + patienceMs
  for (;;) {
    const response = await fetch(url)
    if (response.status !== 503 || performance.now() > untilMs) return response
    await response.body?.cancel()
    await sleep(RETRY_MS)
  }
}

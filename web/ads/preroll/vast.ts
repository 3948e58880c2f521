// Parses VAST documents, versions 2 to 4 (IAB VAST 4.3). Only linear ads are used here.
import { resolveHttpUrl } from './http-url.ts'

/** Error codes of VAST 4.3, 2.3.6.3. */
export type VastErrorCode = 100 | 101 | 102 | 301 | 302 | 303 | 402 | 403 | 405 | 900

export class VastError extends Error {
  readonly code: VastErrorCode

  constructor(code: VastErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export interface VastDocument {
  /** Pinged if the document has no ad. */
  errorUrls: string[]
  ads: VastAd[]
}

export type VastAd = InlineAd | WrapperAd

export interface InlineAd {
  kind: 'inline'
  errorUrls: string[]
  impressionUrls: string[]
  linears: LinearCreative[]
}

export interface WrapperAd extends LinearEvents {
  kind: 'wrapper'
  errorUrls: string[]
  impressionUrls: string[]
  /** URL of the next document. */
  nextUrl: string | undefined
  /** Whether the next document may be a wrapper too. */
  followsWrappers: boolean
}

export interface LinearCreative extends LinearEvents {
  mediaFiles: MediaFile[]
  durationSeconds: number | undefined
  /** It has a `skipoffset`. */
  isSkippable: boolean
}

/** Tracking events and click-through of a linear creative. */
export interface LinearEvents {
  tracking: TrackingEvent[]
  clickTrackingUrls: string[]
  clickThroughUrl: string | undefined
}

export interface TrackingEvent {
  /** `start`, `midpoint`, `progress`, … */
  event: string
  url: string
  /** Position of a `progress` event. */
  offset: TimeOffset | undefined
}

export type TimeOffset = { seconds: number } | { share: number }

export interface MediaFile {
  url: string
  /** MIME type; undefined if missing. */
  type: string | undefined
  /** `VPAID`, …: the file is a script, not a video. */
  apiFramework: string | undefined
}

/** URLs of one kind; a hostile document could contain thousands. */
const MAX_URLS = 100

/**
 * Parses a document; relative URLs are resolved against `base`. Throws a VastError: 100 if it is
 * not well-formed, 101 if it is not VAST, 102 if it is VAST 1.
 */
export function parseVast(text: string, base: string): VastDocument {
  const root = parseXml(text).documentElement
  if (root.localName === 'VideoAdServingTemplate') throw new VastError(102, 'VAST 1')
  if (root.localName !== 'VAST') throw new VastError(101, 'the root is not VAST')
  if (root.getAttribute('version')?.trim().startsWith('1')) throw new VastError(102, 'VAST 1')
  const ads = find(root, 'Ad').flatMap((ad) => [
    ...find(ad, 'InLine').map((inline) => parseInline(inline, base)),
    ...find(ad, 'Wrapper').map((wrapper) => parseWrapper(wrapper, base)),
  ])
  return { errorUrls: urlsOf(find(root, 'Error'), base), ads }
}

function parseXml(text: string): Document {
  // White space before the XML declaration is a fatal error for parsers, and common.
  const trimmed = text.trim()
  // Ads need no custom entities, whose expansion can be exponential.
  if (/<!ENTITY/i.test(trimmed)) throw new VastError(100, 'declares entities')
  const parsed = new DOMParser().parseFromString(trimmed, 'text/xml')
  // Chromium keeps the readable part next to the `parsererror`.
  if (parsed.querySelector('parsererror')) throw new VastError(100, 'not well-formed')
  return parsed
}

function parseInline(inline: Element, base: string): InlineAd {
  return {
    kind: 'inline',
    errorUrls: urlsOf(find(inline, 'Error'), base),
    impressionUrls: urlsOf(find(inline, 'Impression'), base),
    linears: find(inline, 'Creatives', 'Creative', 'Linear').map((linear) => ({
      ...parseEvents([linear], base),
      mediaFiles: parseMediaFiles(linear, base),
      durationSeconds: parseSeconds(textOf(find(linear, 'Duration')[0])),
      isSkippable: linear.hasAttribute('skipoffset'),
    })),
  }
}

function parseWrapper(wrapper: Element, base: string): WrapperAd {
  return {
    kind: 'wrapper',
    errorUrls: urlsOf(find(wrapper, 'Error'), base),
    impressionUrls: urlsOf(find(wrapper, 'Impression'), base),
    ...parseEvents(find(wrapper, 'Creatives', 'Creative', 'Linear'), base),
    nextUrl: urlsOf(find(wrapper, 'VASTAdTagURI'), base)[0],
    followsWrappers: !/^(?:false|0)$/i.test(
      wrapper.getAttribute('followAdditionalWrappers')?.trim() ?? '',
    ),
  }
}

function parseEvents(linears: Element[], base: string): LinearEvents {
  const within = (...names: string[]) => linears.flatMap((linear) => find(linear, ...names))
  return {
    tracking: within('TrackingEvents', 'Tracking')
      .flatMap((element) => parseTracking(element, base))
      .slice(0, MAX_URLS),
    clickTrackingUrls: urlsOf(within('VideoClicks', 'ClickTracking'), base),
    clickThroughUrl: urlsOf(within('VideoClicks', 'ClickThrough'), base)[0],
  }
}

function parseTracking(element: Element, base: string): TrackingEvent[] {
  const event = element.getAttribute('event')?.trim()
  const url = resolveHttpUrl(textOf(element), base)
  if (!event || !url) return []
  return [{ event, url, offset: parseOffset(element.getAttribute('offset') ?? '') }]
}

function parseMediaFiles(linear: Element, base: string): MediaFile[] {
  return find(linear, 'MediaFiles', 'MediaFile').flatMap((file) => {
    const url = resolveHttpUrl(textOf(file), base)
    const attribute = (name: string) => file.getAttribute(name)?.trim() || undefined
    return url ? [{ url, type: attribute('type'), apiFramework: attribute('apiFramework') }] : []
  })
}

function parseOffset(text: string): TimeOffset | undefined {
  const [, percent] = /^\s*(\d{1,3}(?:\.\d+)?)%\s*$/.exec(text) ?? []
  if (percent !== undefined) return { share: Number(percent) / 100 }
  const seconds = parseSeconds(text)
  return seconds === undefined ? undefined : { seconds }
}

/** `HH:MM:SS` or `HH:MM:SS.mmm`. */
function parseSeconds(text: string): number | undefined {
  const [, hours, minutes, seconds] =
    /^\s*(\d{1,2}):(\d{1,2}):(\d{1,2}(?:\.\d+)?)\s*$/.exec(text) ?? []
  if (seconds === undefined) return undefined
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}

function urlsOf(elements: Element[], base: string): string[] {
  return elements
    .slice(0, MAX_URLS)
    .flatMap((element) => resolveHttpUrl(textOf(element), base) ?? [])
}

function textOf(element: Element | undefined): string {
  return element?.textContent?.trim() ?? ''
}

/** The elements at the end of a path of local names, in any namespace. */
function find(from: Element, ...names: string[]): Element[] {
  return names.reduce(
    (found, name) =>
      found.flatMap((element) =>
        [...element.children].filter(({ localName }) => localName === name),
      ),
    [from],
  )
}

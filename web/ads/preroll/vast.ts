// Parses VAST documents, versions 2 to 4 (IAB VAST 4.3). Only linear ads are used here.
import { VastError } from './vast-error.ts'

export interface VastDocument {
  /** Pinged if the document has no ad. */
  errorUrls: string[]
  ads: VastAd[]
  /** It has an Ad that is neither InLine nor Wrapper. */
  hasUnknownAd: boolean
}

export type VastAd = InlineAd | WrapperAd

interface AnyAd {
  errorUrls: string[]
  impressionUrls: string[]
  /** Pinged because verification scripts are not run here (VAST 4.3, 3.17.4). */
  unverifiedUrls: string[]
  /** It must not be shown without its companions (VAST 4.3, 3.13). */
  requiresCompanions: boolean
}

export interface InlineAd extends AnyAd {
  kind: 'inline'
  /** `adType` audio: there is nothing to see. */
  isAudio: boolean
  linears: LinearCreative[]
  /** Which creatives it has instead of linear ones. */
  otherCreatives: 'nonlinear' | 'companions' | 'none'
}

export interface WrapperAd extends AnyAd, LinearEvents {
  kind: 'wrapper'
  /** URL of the next document; undefined if it is not http or https. */
  nextUrl: string | undefined
  /** It has a VASTAdTagURI. */
  hasNext: boolean
  /** Whether the next document may be a wrapper too. */
  followsWrappers: boolean
}

export interface LinearCreative extends LinearEvents {
  mediaFiles: MediaFile[]
  durationSeconds: number | undefined
  /** It has a `skipoffset`. */
  isSkippable: boolean
  /** It has a script, which is not run here, for the ad's interactive part. */
  isInteractive: boolean
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
const UNVERIFIED = 'verificationNotExecuted'

/**
 * Parses a document; relative URLs are resolved against `base`. Throws a VastError: 100 if it is
 * not well-formed, 101 if it is not VAST, 102 if it is VAST 1.
 */
export function parseVast(text: string, base: string): VastDocument {
  const root = parseXml(text).documentElement
  if (root.localName === 'VideoAdServingTemplate') throw new VastError(102, 'VAST 1')
  if (root.localName !== 'VAST') throw new VastError(101, 'the root is not VAST')
  if (root.getAttribute('version')?.trim().startsWith('1')) throw new VastError(102, 'VAST 1')
  const ads = find(root, 'Ad').map((ad) => parseAd(ad, base))
  return {
    errorUrls: urlsOf(find(root, 'Error'), base),
    ads: ads.flat(),
    hasUnknownAd: ads.some((kinds) => kinds.length === 0),
  }
}

function parseAd(ad: Element, base: string): VastAd[] {
  const isAudio = ad.getAttribute('adType')?.trim().toLowerCase() === 'audio'
  return [
    ...find(ad, 'InLine').map((inline) => ({ ...parseInline(inline, base), isAudio })),
    ...find(ad, 'Wrapper').map((wrapper) => parseWrapper(wrapper, base)),
  ]
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

function parseInline(inline: Element, base: string): Omit<InlineAd, 'isAudio'> {
  const creatives = (name: string) => find(inline, 'Creatives', 'Creative', name)
  const hasNonlinear = creatives('NonLinearAds').length > 0
  const hasCompanions = creatives('CompanionAds').length > 0
  return {
    kind: 'inline',
    ...parseAny(inline, base),
    linears: creatives('Linear').map((linear) => ({
      ...parseEvents([linear], base),
      mediaFiles: parseMediaFiles(linear, base),
      durationSeconds: parseSeconds(textOf(find(linear, 'Duration')[0])),
      isSkippable: linear.hasAttribute('skipoffset'),
      isInteractive: find(linear, 'MediaFiles', 'InteractiveCreativeFile').length > 0,
    })),
    otherCreatives: hasNonlinear ? 'nonlinear' : hasCompanions ? 'companions' : 'none',
  }
}

function parseAny(ad: Element, base: string): AnyAd {
  // Before VAST 4.1, verifications were an extension.
  const verifications = [
    ...find(ad, 'AdVerifications', 'Verification'),
    ...find(ad, 'Extensions', 'Extension', 'AdVerifications', 'Verification'),
  ].flatMap((verification) => find(verification, 'TrackingEvents', 'Tracking'))
  const companions = find(ad, 'Creatives', 'Creative', 'CompanionAds')
  return {
    errorUrls: urlsOf(find(ad, 'Error'), base),
    impressionUrls: urlsOf(find(ad, 'Impression'), base),
    unverifiedUrls: urlsOf(
      verifications.filter((tracking) => tracking.getAttribute('event') === UNVERIFIED),
      base,
    ),
    requiresCompanions: companions.some((companion) =>
      /^\s*(?:all|any)\s*$/i.test(companion.getAttribute('required') ?? ''),
    ),
  }
}

function parseWrapper(wrapper: Element, base: string): WrapperAd {
  const next = find(wrapper, 'VASTAdTagURI')
  return {
    kind: 'wrapper',
    ...parseAny(wrapper, base),
    ...parseEvents(find(wrapper, 'Creatives', 'Creative', 'Linear'), base),
    nextUrl: urlsOf(next, base)[0],
    hasNext: textOf(next[0]) !== '',
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

/** The absolute URL of an untrusted one; undefined if it is invalid or has another scheme. */
function resolveHttpUrl(text: string, base: string): string | undefined {
  const trimmed = text.trim()
  if (trimmed === '' || !URL.canParse(trimmed, base)) return undefined
  const { protocol, href } = new URL(trimmed, base)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}

// schema.org data of pages, in the form that Google documents for videos, breadcrumbs and lists:
// https://developers.google.com/search/docs/appearance/structured-data/video
import type {
  BreadcrumbList,
  BroadcastEvent,
  Clip,
  ItemList,
  VideoObject,
  WebSite,
  WithContext,
} from 'schema-dts'
import type { SessionText } from '../../../../shared/contract.ts'
import type { Chapter } from '../../../library/metadata/chapters.ts'
import { formatDateTime } from '../site/session-text.ts'

const CONTEXT = 'https://schema.org'
const HOUR_MS = 3_600_000
/** Search engines show a few. */
const MAX_CLIPS = 100

export interface VideoFacts {
  name: string
  description: string
  /** Public URL of the player page. */
  url: string
  embedUrl: string
  thumbnailUrl: string
  publishedMs: number
  /** Of what is recorded so far. */
  durationSeconds: number
  /** In order of their starts. */
  chapters: readonly Chapter[]
  /** Of the row. */
  text: SessionText
  /** When the recording counts as settled; absent if it is. */
  growsUntilMs?: number | undefined
}

/** No `contentUrl`: a playlist is not the file of a video. */
export function formatVideo(facts: VideoFacts): WithContext<VideoObject> {
  const { durationSeconds, publishedMs, growsUntilMs } = facts
  const { game } = facts.text
  const clips = formatClips(facts)
  return {
    '@context': CONTEXT,
    '@type': 'VideoObject',
    name: facts.name,
    description: facts.description,
    url: facts.url,
    embedUrl: facts.embedUrl,
    thumbnailUrl: facts.thumbnailUrl,
    uploadDate: formatDateTime(publishedMs),
    duration: formatDuration(durationSeconds),
    // A category of a platform is not always a VideoGame.
    ...(game !== undefined && { keywords: game }),
    ...(clips.length > 0 && { hasPart: clips }),
    ...(growsUntilMs !== undefined && { publication: formatBroadcast(publishedMs, growsUntilMs) }),
  }
}

/** ISO 8601 4.4.3.2: `PT1H2M3S`. */
export function formatDuration(durationSeconds: number): string {
  const whole = Math.max(1, Math.round(durationSeconds))
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const seconds = whole % 60
  const parts = [hours > 0 ? `${hours}H` : '', minutes > 0 ? `${minutes}M` : '']
  return `PT${parts.join('')}${seconds > 0 || whole < 60 ? `${seconds}S` : ''}`
}

/** A chapter lasts until the next one. */
function formatClips({ url, chapters, durationSeconds }: VideoFacts): Clip[] {
  return chapters.slice(0, MAX_CLIPS).map(({ title, startSeconds, endSeconds }, at): Clip => {
    const next = chapters[at + 1]?.startSeconds ?? durationSeconds
    return {
      '@type': 'Clip',
      name: title,
      startOffset: startSeconds,
      endOffset: Math.round(Math.max(endSeconds ?? next, startSeconds) * 1000) / 1000,
      url: `${url}?t=${startSeconds}`,
    }
  })
}

/** The end is an estimate, as the documentation recommends: a full hour after the next one. */
function formatBroadcast(startMs: number, settlesAtMs: number): BroadcastEvent {
  const endMs = (Math.ceil(settlesAtMs / HOUR_MS) + 1) * HOUR_MS
  return {
    '@type': 'BroadcastEvent',
    isLiveBroadcast: true,
    startDate: formatDateTime(startMs),
    endDate: formatDateTime(endMs),
  }
}

/** A page in a list, or on the way from the home page. */
export interface NamedUrl {
  name: string
  url: string
}

/** From the home page to this one. */
export function formatBreadcrumbs(pages: readonly NamedUrl[]): WithContext<BreadcrumbList> {
  return {
    '@context': CONTEXT,
    '@type': 'BreadcrumbList',
    itemListElement: pages.map(({ name, url }, at) => ({
      '@type': 'ListItem',
      position: at + 1,
      name,
      item: url,
    })),
  }
}

/** @param first the position of the first item in the whole list, from 1 */
export function formatItemList(
  items: readonly NamedUrl[],
  { first, total }: { first: number; total: number },
): WithContext<ItemList> {
  return {
    '@context': CONTEXT,
    '@type': 'ItemList',
    numberOfItems: total,
    itemListElement: items.map(({ name, url }, at) => ({
      '@type': 'ListItem',
      position: first + at,
      name,
      url,
    })),
  }
}

export function formatSite({ name, url }: NamedUrl): WithContext<WebSite> {
  return { '@context': CONTEXT, '@type': 'WebSite', name, url }
}

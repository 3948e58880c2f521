// Paths of the house ads, all below /api/promo/, which no ad blocker list matches.
import { apiPrefix, formatPath } from '../../../shared/paths.ts'

/** Route patterns in Fastify's syntax. */
export const promoPatterns = {
  serve: `${apiPrefix}promo/serve`,
  vast: `${apiPrefix}promo/vast`,
  frame: `${apiPrefix}promo/frame/:creative`,
  click: `${apiPrefix}promo/click/:creative`,
  event: `${apiPrefix}promo/event/:event/:creative`,
  media: `${apiPrefix}promo/media/:creative`,
} as const

/** A creative in a zone. */
interface Placement {
  creative: string
  zone: string
}

export function framePath({ creative, zone }: Placement): string {
  return formatPath(promoPatterns.frame, { creative }) + zoneQuery(zone)
}

export function clickPath({ creative, zone }: Placement): string {
  return formatPath(promoPatterns.click, { creative }) + zoneQuery(zone)
}

/** Path of a playback event: `impression`, `start`, … */
export function eventPath(event: string, { creative, zone }: Placement): string {
  return formatPath(promoPatterns.event, { event, creative }) + zoneQuery(zone)
}

export function mediaPath(creative: string): string {
  return formatPath(promoPatterns.media, { creative })
}

function zoneQuery(zone: string): string {
  return `?zone=${encodeURIComponent(zone)}`
}

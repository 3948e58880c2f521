// Paths of the house ads, all below /api/promo/, which no ad blocker list matches.
import { apiPrefix, formatPath } from '../../../../shared/paths.ts'

/** Route patterns in Fastify's syntax. */
export const promoPatterns = {
  serve: `${apiPrefix}promo/serve`,
  vast: `${apiPrefix}promo/vast`,
  frame: `${apiPrefix}promo/frame/:creative`,
  click: `${apiPrefix}promo/click/:creative`,
  event: `${apiPrefix}promo/event/:event/:creative`,
  media: `${apiPrefix}promo/media/:creative`,
} as const

/** A path of the site, as clients request it. */
export type FormatPath = (this: void, sitePath: string) => string

/** A creative in a zone. */
interface Placement {
  creative: string
  zone: string
}

/** Paths of house ads, as clients request them. */
export interface PromoPaths {
  frame(this: void, place: Placement): string
  click(this: void, place: Placement): string
  /** The path that counts a playback event: `impression`, `start`, … */
  event(this: void, event: string, place: Placement): string
  media(this: void, creative: string): string
}

export function createPromoPaths(toPath: FormatPath): PromoPaths {
  const format = (pattern: string, names: Record<string, string>): string =>
    toPath(formatPath(pattern, names))
  return {
    frame: ({ creative, zone }) => format(promoPatterns.frame, { creative }) + zoneQuery(zone),
    click: ({ creative, zone }) => format(promoPatterns.click, { creative }) + zoneQuery(zone),
    event: (event, { creative, zone }) =>
      format(promoPatterns.event, { event, creative }) + zoneQuery(zone),
    media: (creative) => format(promoPatterns.media, { creative }),
  }
}

function zoneQuery(zone: string): string {
  return `?zone=${encodeURIComponent(zone)}`
}

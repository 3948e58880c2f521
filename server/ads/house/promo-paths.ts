// Paths of the house ads, all below /api/promo/, which no blocker's list names.
export const servePath = '/api/promo/serve'
export const vastPath = '/api/promo/vast'

/** What is asked for of a creative, and in which zone. */
interface Placement {
  creative: string
  zone: string
}

export function framePath({ creative, zone }: Placement): string {
  return `/api/promo/frame/${creative}?zone=${encodeURIComponent(zone)}`
}

export function clickPath({ creative, zone }: Placement): string {
  return `/api/promo/click/${creative}?zone=${encodeURIComponent(zone)}`
}

/** Path of what a player tells while it plays: `impression`, `start`, … */
export function eventPath(event: string, { creative, zone }: Placement): string {
  return `/api/promo/event/${event}/${creative}?zone=${encodeURIComponent(zone)}`
}

export function mediaPath(creative: string): string {
  return `/api/promo/media/${creative}`
}

// Paths of the house ads, all below /api/promo/, which no ad blocker list matches.
export const servePath = '/api/promo/serve'
export const vastPath = '/api/promo/vast'

/** A creative and the zone it was chosen for. */
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

/** Path of a playback event: `impression`, `start`, … */
export function eventPath(event: string, { creative, zone }: Placement): string {
  return `/api/promo/event/${event}/${creative}?zone=${encodeURIComponent(zone)}`
}

export function mediaPath(creative: string): string {
  return `/api/promo/media/${creative}`
}

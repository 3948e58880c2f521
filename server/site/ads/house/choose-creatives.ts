// Chooses house ads for zones: by kind, zone and date, then by weight. Pure: day and random numbers
// are inputs.
import type { BannerCreative, Creative, VideoCreative } from './creatives.ts'

export interface ChoiceOptions {
  /** Today in UTC, `YYYY-MM-DD`. */
  day: string
  /** Random numbers from 0 (inclusive) to 1 (exclusive). */
  random: () => number
}

/**
 * A banner for each slot, in order; undefined if none fits. Each is drawn from those used least so
 * far, so that neighbours differ if a zone has more than one.
 */
export function chooseBanners(
  creatives: readonly Creative[],
  zones: readonly string[],
  { day, random }: ChoiceOptions,
): (BannerCreative | undefined)[] {
  const banners = creatives.filter((creative) => creative.kind !== 'video')
  const draws = new Map<BannerCreative, number>()
  return zones.map((zone) => {
    const fitting = banners.filter((banner) => isShown(banner, zone, day))
    const fewest = Math.min(...fitting.map((banner) => draws.get(banner) ?? 0))
    const chosen = drawByWeight(
      fitting.filter((banner) => (draws.get(banner) ?? 0) === fewest),
      random,
    )
    if (chosen !== undefined) draws.set(chosen, fewest + 1)
    return chosen
  })
}

/** A pre-roll for the zone; undefined if none fits. */
export function chooseVideo(
  creatives: readonly Creative[],
  zone: string,
  { day, random }: ChoiceOptions,
): VideoCreative | undefined {
  const videos = creatives.filter((creative) => creative.kind === 'video')
  return drawByWeight(
    videos.filter((video) => isShown(video, zone, day)),
    random,
  )
}

/** Days compare as strings: `YYYY-MM-DD` sorts chronologically. */
function isShown({ zones, from, until }: Creative, zone: string, day: string): boolean {
  if (zones !== undefined && !zones.includes(zone)) return false
  return (from === undefined || from <= day) && (until === undefined || day <= until)
}

function drawByWeight<Item extends Creative>(
  items: readonly Item[],
  random: () => number,
): Item | undefined {
  let left = random() * items.reduce((sum, { weight }) => sum + weight, 0)
  return items.find(({ weight }) => {
    left -= weight
    return left < 0
  })
}

// Hit rates of the caches of a CDN: popularity of segments, and Che's approximation of caches that
// evict the least recently used segment (Che, Tung, Wang: Hierarchical Web Caching Systems, 2002).

/** What visitors watch. */
export interface Audience {
  viewers: number
  sessions: number
  /** Exponent of Zipf's law: the n-th session has n^-exponent of the viewers of the first. */
  zipfExponent: number
  sessionSeconds: number
  /** Mean of an exponential distribution, from the start of the session. */
  watchedSeconds: number
  segmentSeconds: number
  segmentBytes: number
}

/** Equal caches in many places. What they miss is requested from one cache before the nodes. */
export interface Cdn {
  places: number
  placeBytes: number
  /** 0: there is none. */
  shieldBytes: number
}

/** Segments with the same rate of requests. */
export interface SegmentClass {
  segments: number
  /** Requests per second of each. */
  rate: number
}

/** Shares of the requests of viewers, from 0 to 1. */
export interface HitRates {
  place: number
  /** Of the whole CDN. */
  total: number
}

/** Ranks and positions are grouped so that those of a group differ by at most about 10 %. */
const GROUPS_PER_DECADE = 24
const POSITIONS = 100
const BISECTIONS = 100

/** Segments of all sessions by rate: of the session's rank, and of the position in the session. */
export function classifySegments(audience: Audience): SegmentClass[] {
  const perPosition = audience.sessionSeconds / audience.segmentSeconds / POSITIONS
  const positions = positionShares(audience)
  const requests = audience.viewers / audience.segmentSeconds
  return sessionShares(audience.sessions, audience.zipfExponent).flatMap(({ count, share }) =>
    positions.map((position) => ({
      segments: count * perPosition,
      rate: (requests * share * position) / perPosition,
    })),
  )
}

/** Ranks from 1 in groups that grow with the rank, and the weight of each session of a group. */
function groupRanks(sessions: number, exponent: number): { count: number; weight: number }[] {
  const groups: { count: number; weight: number }[] = []
  const growth = 10 ** (1 / GROUPS_PER_DECADE)
  for (let from = 1; from <= sessions;) {
    const to = Math.min(sessions + 1, Math.max(from + 1, Math.round(from * growth)))
    groups.push({ count: to - from, weight: Math.sqrt(from * (to - 1)) ** -exponent })
    from = to
  }
  return groups
}

/** Share of the viewers of a session at each of its positions. */
function positionShares({ sessionSeconds, watchedSeconds }: Audience): number[] {
  const step = sessionSeconds / POSITIONS
  const weights = Array.from({ length: POSITIONS }, (_, at) =>
    Math.exp(-((at + 0.5) * step) / watchedSeconds),
  )
  const total = sum(weights)
  return weights.map((weight) => weight / total)
}

/** Hit rates in equilibrium: each segment has been requested for longer than it stays cached. */
export function hitRatesOf(classes: readonly SegmentClass[], bytes: number, cdn: Cdn): HitRates {
  const requests = requestsOf(classes)
  const perPlace = classes.map(({ segments, rate }) => ({ segments, rate: rate / cdn.places }))
  const missed = missedBy(perPlace, cdn.placeBytes / bytes)
  const toShield = missed.map(({ segments, rate }) => ({ segments, rate: rate * cdn.places }))
  const left = cdn.shieldBytes === 0 ? toShield : missedBy(toShield, cdn.shieldBytes / bytes)
  return {
    place: 1 - requestsOf(toShield) / requests,
    total: 1 - requestsOf(left) / requests,
  }
}

/**
 * Requests per second that reach the nodes for a resource that each place caches for a short time,
 * if visitors request it at random moments.
 *
 * @param rate requests per second of all visitors
 */
export function refreshRate(rate: number, places: number, maxAgeSeconds: number): number {
  const perPlace = rate / places
  return (places * perPlace) / (1 + perPlace * maxAgeSeconds)
}

/** Shares of the sessions in the order of their popularity, in groups of equal ones. */
export function sessionShares(
  sessions: number,
  exponent: number,
): { count: number; share: number }[] {
  const ranks = groupRanks(sessions, exponent)
  const total = sum(ranks.map(({ count, weight }) => count * weight))
  return ranks.map(({ count, weight }) => ({ count, share: weight / total }))
}

/**
 * The requests that a cache misses. A segment is a hit if it was requested within the time in which
 * as many other segments are requested as the cache holds.
 */
function missedBy(classes: readonly SegmentClass[], capacity: number): SegmentClass[] {
  const seconds = cachedSeconds(classes, capacity)
  return classes.map(({ segments, rate }) => ({ segments, rate: rate * Math.exp(-rate * seconds) }))
}

/** How long a segment stays in a cache of this many segments after its last request. */
function cachedSeconds(classes: readonly SegmentClass[], capacity: number): number {
  if (sum(classes.map(({ segments }) => segments)) <= capacity) return Infinity
  let [low, high] = [0, 1]
  while (occupancy(classes, high) < capacity) high *= 2
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2
    if (occupancy(classes, middle) < capacity) low = middle
    else high = middle
  }
  return high
}

/** Segments that were requested within a time, on average. */
function occupancy(classes: readonly SegmentClass[], seconds: number): number {
  return sum(classes.map(({ segments, rate }) => segments * -Math.expm1(-rate * seconds)))
}

function requestsOf(classes: readonly SegmentClass[]): number {
  return sum(classes.map(({ segments, rate }) => segments * rate))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

// The hit rates and loads of `npm run bench -- sizing`, compared with a simulation request by
// request, and with figures computed by hand.
import { LRUCache } from 'lru-cache'
import { describe, expect, it } from 'vitest'
import { classifySegments, hitRatesOf, refreshRate } from '../bench/sizing/edge-cache.ts'
import type { Audience, Cdn } from '../bench/sizing/edge-cache.ts'
import { computeLoad } from '../bench/sizing/load.ts'
import { createRandom } from '../server/demo/random.ts'

const REQUESTS = 400_000
/** Of the requests: while the caches fill, they miss more than in equilibrium. */
const WARM_UP = 0.5

const audience: Audience = {
  viewers: 600,
  sessions: 200,
  zipfExponent: 0.9,
  sessionSeconds: 600,
  watchedSeconds: 200,
  segmentSeconds: 6,
  segmentBytes: 1,
}

/** Requests that neither a place nor the shield has, as shares of all. */
function simulate({ places, placeBytes, shieldBytes }: Cdn): { place: number; total: number } {
  const random = createRandom(1)
  const caches = Array.from({ length: places }, () => openCache(placeBytes))
  const shield = shieldBytes === 0 ? undefined : openCache(shieldBytes)
  const weights = Array.from({ length: audience.sessions }, (_, at) =>
    Math.pow(at + 1, -audience.zipfExponent),
  )
  const sessions = cumulate(weights)
  const perSession = audience.sessionSeconds / audience.segmentSeconds
  let [counted, missed, left] = [0, 0, 0]
  for (let request = 0; request < REQUESTS; request += 1) {
    const session = indexOf(sessions, random())
    // Again if it is after the end of the session.
    let position = perSession
    while (position >= perSession) {
      const watched = -Math.log(1 - random()) * audience.watchedSeconds
      position = Math.floor(watched / audience.segmentSeconds)
    }
    const segment = session * perSession + position
    const isHit = caches[Math.floor(random() * places)]?.(segment) === true
    const isInShield = isHit || shield?.(segment) === true
    if (request < REQUESTS * WARM_UP) continue
    counted += 1
    if (!isHit) missed += 1
    if (!isInShield) left += 1
  }
  return { place: 1 - missed / counted, total: 1 - left / counted }
}

/** Whether it has a segment; then it does. */
function openCache(max: number): (segment: number) => boolean {
  const cache = new LRUCache<number, true>({ max })
  return (segment) => {
    const isHit = cache.get(segment) === true
    if (!isHit) cache.set(segment, true)
    return isHit
  }
}

/** Sums from 0 to 1. */
function cumulate(weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  return weights.map((weight) => (sum += weight) / total)
}

function indexOf(cumulated: readonly number[], value: number): number {
  let [low, high] = [0, cumulated.length - 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((cumulated[middle] ?? 1) <= value) low = middle + 1
    else high = middle
  }
  return low
}

describe('hit rates', () => {
  it.each<Cdn>([
    { places: 1, placeBytes: 500, shieldBytes: 0 },
    { places: 4, placeBytes: 2000, shieldBytes: 0 },
    { places: 4, placeBytes: 500, shieldBytes: 4000 },
  ])('are those of a simulated CDN: %j', (cdn) => {
    const computed = hitRatesOf(classifySegments(audience), audience.segmentBytes, cdn)
    const simulated = simulate(cdn)
    expect(computed.place).toBeCloseTo(simulated.place, 1.6)
    expect(computed.total).toBeCloseTo(simulated.total, 1.6)
    expect(computed.place).toBeGreaterThan(0.1)
  })

  it('are complete if the caches hold everything', () => {
    const cdn = { places: 2, placeBytes: 1e9, shieldBytes: 0 }
    expect(hitRatesOf(classifySegments(audience), audience.segmentBytes, cdn).total).toBe(1)
  })
})

it('a resource is requested again at most once per place and lifetime', () => {
  expect(refreshRate(1e9, 50, 2)).toBeCloseTo(25, 3)
  expect(refreshRate(0.001, 50, 2)).toBeCloseTo(0.001, 6)
})

describe('the load', () => {
  it('of a million viewers with 99 % of hits is that of 1,667 segments per second', () => {
    const input = {
      viewers: 1_000_000,
      hitRate: 0.99,
      isEncrypted: true,
      storage: 'bucket',
    } as const
    const load = computeLoad(input)
    expect(load.segmentsPerSecond).toBeCloseTo(1666.7, 1)
    expect(load.bytesPerSecond / 1e9).toBeCloseTo(7.5, 3)
    expect(load.storeRequestsPerSecond).toBe(load.segmentsPerSecond)
    expect(load.otherPerSecond).toBeCloseTo((1_000_000 / 1200) * 7, 3)
    expect(load).toMatchObject({ nodes: 9, limit: 'network' })
    const plain = computeLoad({ ...input, isEncrypted: false, storage: 'folder' })
    expect(plain.cpus).toBeLessThan(load.cpus / 10)
    expect(plain.storeRequestsPerSecond).toBe(0)
  })

  it('never needs fewer than two nodes', () => {
    const input = { viewers: 1, hitRate: 1, isEncrypted: true, storage: 'bucket' } as const
    expect(computeLoad(input).nodes).toBe(2)
  })
})

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { CatalogVersions } from './catalog-versions.ts'

let generation: number
/** Streamers by the generation of their last change. */
let changes: [streamer: string, generation: number][]
let reads: number

const catalog = {
  generation: () => {
    reads += 1
    return generation
  },
  changedStreamers: (after: number) =>
    after < 0
      ? ('all' as const)
      : new Set(changes.flatMap(([streamer, at]) => (at > after ? [streamer] : []))),
}

beforeEach(() => {
  vi.useFakeTimers()
  generation = 1
  changes = []
  reads = 0
})

afterEach(() => vi.useRealTimers())

function change(streamer: string): void {
  generation += 1
  changes.push([streamer, generation])
}

it('has a new version of a streamer that changed, and of no other', () => {
  const versions = new CatalogVersions(catalog)
  const [alice, bob] = [versions.streamer('alice', 'now'), versions.streamer('bob', 'now')]
  change('alice')
  expect(versions.streamer('alice', 'now')).not.toBe(alice)
  expect(versions.streamer('bob', 'now')).toBe(bob)
  const second = versions.streamer('alice', 'now')
  change('alice')
  expect(versions.streamer('alice', 'now')).not.toBe(second)
})

it('reads a recent version from the catalog at most every 50 ms, and a present one always', () => {
  const versions = new CatalogVersions(catalog)
  const first = versions.streamer('alice', 'recent')
  change('alice')
  expect(versions.streamer('alice', 'recent')).toBe(first)
  expect(reads).toBe(1)
  vi.advanceTimersByTime(50)
  expect(versions.streamer('alice', 'recent')).not.toBe(first)
  change('alice')
  expect(versions.streamer('alice', 'now')).toBe(generation)
})

it('stores the versions of a limited number of streamers', () => {
  const versions = new CatalogVersions(catalog)
  const bob = versions.streamer('bob', 'now')
  for (let i = 0; i < 10_001; i += 1) {
    change(String(i))
    versions.site('now')
    changes = []
  }
  expect(versions.streamer('bob', 'now')).not.toBe(bob)
})

import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseSitemapIndex } from 'sitemap'
import Fastify from 'fastify'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import { CatalogWriter } from '../../../library/catalog/store/catalog-writer.ts'
import { createHiddenNames } from '../../../library/catalog/store/hidden.ts'
import type { Database } from '../../../library/catalog/store/database.ts'
import { addEndpoints } from '../add-endpoints.ts'
import { Responder } from '../responses/responder.ts'
import { ResponseCache } from '../responses/response-cache.ts'
import type { TextBody } from '../responses/answer.ts'
import { createSitemapEndpoints } from './sitemap.ts'
import { Sitemaps } from './sitemaps.ts'
import type { SitemapOptions } from './sitemaps.ts'
import type { TextResponse } from '../responses/text-response.ts'
import { createTempCatalog, foundRecording } from '../../../../test/support/temp-catalog.ts'

const DATE = '2026-01-31'
const ORIGIN = 'https://site.example'

let database: Database
let catalog: Catalog
/** Lookups of sessions, each of which reads one slice. */
let lookups: number
let clockMs: number
let cache: ResponseCache

beforeEach(() => {
  ;({ database, catalog } = createTempCatalog('sitemaps'))
  lookups = 0
  clockMs = 0
  cache = new ResponseCache()
})

function add(streamer: string, sessions: number, first = 0): void {
  const found = Array.from({ length: sessions }, (_, i) =>
    foundRecording({ streamer, date: DATE, sessionId: String(first + i) }),
  )
  new CatalogWriter(database).apply({ found, gone: [] })
}

function createSitemaps(options: Partial<SitemapOptions> = {}): Sitemaps {
  return new Sitemaps({
    catalog: {
      generation: () => catalog.generation(),
      listStreamers: () => catalog.listStreamers(),
      sessionsAfter: (streamer, after, limit) => {
        lookups += 1
        return catalog.sessionsAfter(streamer, after, limit)
      },
    },
    origin: () => ORIGIN,
    now: () => clockMs,
    ...options,
  })
}

/** The response with a sitemap, from the cache if it is there. */
async function respond(body: TextBody): Promise<TextResponse> {
  return cache.find(body, () => ({ contentType: '', cacheControl: '', headers: {} }))
}

async function textOf(sitemap: TextBody | undefined): Promise<string> {
  if (sitemap === undefined) return ''
  const { bytes } = await (await respond(sitemap)).encoded('identity')
  return bytes.toString()
}

async function addressesIn(sitemap: TextBody | undefined): Promise<string[]> {
  return [...(await textOf(sitemap)).matchAll(/<loc>(?<address>[^<]*)<\/loc>/g)].map(
    ({ groups }) => groups?.address ?? '',
  )
}

test('writes the sitemap once for any number of requests, until the catalog changes', async () => {
  add('alice', 3)
  const sitemaps = createSitemaps()
  const main = async () => respond(await sitemaps.main())
  const [first, second] = await Promise.all([main(), main()])
  expect(second).toBe(first)
  expect(await main()).toBe(first)
  const only = await sitemaps.numbered(1)
  expect(only && (await respond(only))).toBe(first)
  expect(lookups).toBe(1)
  add('bob', 2)
  const changed = await sitemaps.main()
  expect(lookups).toBe(3)
  expect((await respond(changed)).etag).not.toBe(first.etag)
  expect(await addressesIn(changed)).toEqual([
    `${ORIGIN}/`,
    `${ORIGIN}/s/alice`,
    ...['0', '1', '2'].map((id) => `${ORIGIN}/p/alice/${DATE}/${id}`),
    `${ORIGIN}/s/bob`,
    ...['0', '1'].map((id) => `${ORIGIN}/p/bob/${DATE}/${id}`),
  ])
})

test('lets other work run between slices', async () => {
  add('alice', 1000)
  const sitemaps = createSitemaps()
  const seen: number[] = []
  const written = sitemaps.main()
  const state = { isDone: false }
  const done = written.finally(() => (state.isDone = true))
  while (!state.isDone) {
    seen.push(lookups)
    await nextTurn()
  }
  await done
  // A thousand sessions are read in ten slices, never two of them in one turn.
  const steps = seen.slice(1).map((count, i) => count - (seen[i] ?? 0))
  expect(Math.max(...steps)).toBe(1)
  expect(lookups).toBe(11)
})

test('lists every page once in sitemaps of limited length and size', async () => {
  add('alice', 25)
  add('bob', 1)
  add('carol', 30)
  for (const limits of [
    { urls: 10, bytes: 1e6 },
    { urls: 1e6, bytes: 600 },
  ]) {
    cache = new ResponseCache()
    const sitemaps = createSitemaps({ limits })
    const index = await addressesIn(await sitemaps.main())
    const text = await textOf(await sitemaps.main())
    const listed = await parseSitemapIndex(Readable.from([text]))
    expect(listed.map(({ url }) => url)).toEqual(index)
    expect(index[0]).toBe(`${ORIGIN}/sitemap-1.xml`)
    expect(index.length).toBeGreaterThan(5)
    const all: string[] = []
    for (const number of index.keys()) {
      const sitemap = await sitemaps.numbered(number + 1)
      const addresses = await addressesIn(sitemap)
      expect(addresses.length).toBeLessThanOrEqual(limits.urls)
      expect((await textOf(sitemap)).length).toBeLessThanOrEqual(limits.bytes + 20)
      all.push(...addresses)
    }
    expect(all.length).toBe(1 + 3 + 56)
    expect(new Set(all).size).toBe(all.length)
    expect(await sitemaps.numbered(index.length + 1)).toBeUndefined()
    expect(await sitemaps.numbered(0)).toBeUndefined()
  }
})

test('a catalog that changes all the time costs a limited share of the time', async () => {
  add('alice', 3)
  // Each build takes 50 ms by this clock.
  const sitemaps = createSitemaps({ now: () => (clockMs += 50) })
  const first = await respond(await sitemaps.main())
  add('alice', 1, 3)
  clockMs += 800
  expect(await respond(await sitemaps.main())).toBe(first)
  clockMs += 200
  expect(await addressesIn(await sitemaps.main())).toHaveLength(6)
})

test('a sitemap that takes long to write has a hidden name for two seconds at most', async () => {
  add('alice', 3)
  add('bob', 1)
  // Each build takes a minute by this clock.
  const sitemaps = createSitemaps({ now: () => (clockMs += 60_000) })
  await sitemaps.main()
  createHiddenNames(database).hide({ kind: 'streamer', streamer: 'bob' })
  expect(await addressesIn(await sitemaps.main())).not.toContain(`${ORIGIN}/s/bob`)
})

test('caches do not keep a sitemap that is sent after a name was hidden', async () => {
  add('alice', 3)
  add('bob', 1)
  const app = Fastify()
  const headers = { page: {}, data: {}, embed: {}, image: {}, anywhere: {} }
  const endpoints = createSitemapEndpoints({ catalog, publicUrl: () => ORIGIN })
  addEndpoints(app, endpoints, new Responder(headers))
  // Each build takes a second by this clock.
  vi.spyOn(performance, 'now').mockImplementation(() => (clockMs += 1000))
  const before = await app.inject('/sitemap.xml')
  createHiddenNames(database).hide({ kind: 'streamer', streamer: 'bob' })
  const resting = await app.inject('/sitemap.xml')
  vi.restoreAllMocks()
  expect(resting.body).toContain(`${ORIGIN}/s/bob`)
  const cached = [before, resting].map((response) => response.headers['cache-control'])
  expect(cached).toEqual(['public, max-age=3600', 'no-cache'])
  await app.close()
})

test('a change while it is written is in the next one', async () => {
  add('alice', 300)
  const sitemaps = createSitemaps()
  const writing = sitemaps.main()
  await nextTurn()
  add('bob', 1)
  await writing
  expect(await addressesIn(await sitemaps.main())).toContain(`${ORIGIN}/s/bob`)
})

test('sitemaps of older generations are evicted', async () => {
  const sitemaps = createSitemaps()
  add('alice', 10)
  await respond(await sitemaps.main())
  const { sizeBytes } = cache
  for (let change = 0; change < 20; change += 1) {
    clockMs += 60_000
    add('alice', 1, 100 + change)
    await respond(await sitemaps.main())
  }
  expect(cache.sizeBytes).toBeLessThan(2 * sizeBytes)
})

import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { addEndpoints } from '../add-endpoints.ts'
import { Responder } from '../responses/responder.ts'
import { CatalogVersions } from '../site/catalog-versions.ts'
import { createStreamersEndpoint } from './streamers.ts'

const headers = {
  page: {},
  embed: {},
  image: {},
  anywhere: {},
  data: { 'x-frame-options': 'DENY' },
}

let generation: number
let streamers: { name: string; recording_count: number }[]
let app: FastifyInstance

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  generation = 1
  streamers = [{ name: 'alice', recording_count: 2 }]
  const catalog = {
    generation: () => generation,
    changedStreamers: () => 'all' as const,
    listStreamers: () => streamers,
  }
  app = Fastify()
  const endpoint = createStreamersEndpoint({ catalog, versions: new CatalogVersions(catalog) })
  app.decorateRequest('kind', 'other')
  app.decorateRequest('hasServerTiming', false)
  addEndpoints(app, [endpoint], new Responder(headers))
})

afterEach(async () => {
  vi.useRealTimers()
  await app.close()
})

it('responds with the streamers and the headers of data, and with 304 to its ETag', async () => {
  const response = await app.inject('/api/streamers')
  expect(response.json()).toEqual({ streamers })
  expect(response.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-cache',
    'x-frame-options': 'DENY',
    vary: 'Accept-Encoding',
  })
  const condition = { 'if-none-match': response.headers.etag ?? '' }
  const unchanged = await app.inject({ url: '/api/streamers', headers: condition })
  expect(unchanged.statusCode).toBe(304)
})

it('has a new list 50 ms after the catalog has changed', async () => {
  await app.inject('/api/streamers')
  generation += 1
  streamers = [{ name: 'bob', recording_count: 1 }]
  vi.advanceTimersByTime(50)
  expect((await app.inject('/api/streamers')).json()).toEqual({ streamers })
})

// GET /api/streamers, /api/sessions/{streamer}, /api/config: cached until the catalog changes.
import type { FastifyInstance } from 'fastify'
import type {
  PublicConfig,
  SessionsResponse,
  StreamerItem,
  StreamersResponse,
} from '../../../shared/contract.ts'
import { pathPatterns } from '../../../shared/paths.ts'
import type { Catalog } from '../../library/catalog/catalog.ts'
import { AppError } from '../../base/errors.ts'
import { streamerTags } from '../purge/cache-tags.ts'
import { parseName } from './session-parameters.ts'
import type { SecurityHeaders } from './responses/security-headers.ts'
import { createTextCache, sendText, TextResponse } from './responses/text-response.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
/** Clients revalidate each list: a change is visible immediately, no change costs a 304. */
const REVALIDATE = 'no-cache'
/** The database is queried at most this often: a query costs a fifth of a response. */
const QUERY_EVERY_MS = 50
const MAX_LISTS_BYTES = 64 * 1024 * 1024

export interface ListRouteOptions {
  catalog: Catalog
  config: PublicConfig
  headers: SecurityHeaders
}

/** Registers the routes. */
export function addListRoutes(
  app: FastifyInstance,
  { catalog, config, headers }: ListRouteOptions,
): void {
  const toResponse: ToResponse = (value, tags) =>
    new TextResponse(JSON.stringify(value), {
      contentType: JSON_TYPE,
      cacheControl: REVALIDATE,
      headers: { ...headers.data, ...tags },
    })
  const lists = new ListResponses(catalog, toResponse)
  const configResponse = toResponse(config)

  app.get(pathPatterns.streamers, (request, reply) => {
    request.kind = 'list'
    return sendText(request, reply, lists.streamers())
  })

  app.get(pathPatterns.sessions, (request, reply) => {
    request.kind = 'list'
    const response = lists.sessions(parseName(request.params, 'streamer'))
    if (response === undefined) throw new AppError('not_found', 'there is no such streamer')
    return sendText(request, reply, response)
  })

  app.get(pathPatterns.config, (request, reply) => sendText(request, reply, configResponse))
}

type ToResponse = (
  value: PublicConfig | SessionsResponse | StreamersResponse,
  tags?: Readonly<Record<string, string>>,
) => TextResponse

/** Responses with lists, cached until the catalog changes. */
class ListResponses {
  readonly #catalog: Catalog
  readonly #toResponse: ToResponse
  readonly #sessions = createTextCache(MAX_LISTS_BYTES)
  #streamers: TextResponse | undefined
  #listed: readonly StreamerItem[] = []
  #generation = -1
  #isCurrent = false

  constructor(catalog: Catalog, toResponse: ToResponse) {
    this.#catalog = catalog
    this.#toResponse = toResponse
  }

  streamers(): TextResponse {
    this.#evictChanged()
    if (this.#streamers !== undefined) return this.#streamers
    const streamers = this.#catalog.listStreamers()
    const list: StreamersResponse = { streamers }
    this.#streamers = this.#toResponse(list)
    this.#listed = streamers
    return this.#streamers
  }

  sessions(streamer: string): TextResponse | undefined {
    this.#evictChanged()
    const cached = this.#sessions.get(streamer)
    if (cached !== undefined) return cached
    const sessions: SessionsResponse | undefined = this.#catalog.listSessions(streamer)
    if (sessions === undefined) return undefined
    const response = this.#toResponse(sessions, streamerTags(streamer))
    this.#sessions.set(streamer, response)
    return response
  }

  #evictChanged(): void {
    if (this.#isCurrent) return
    this.#isCurrent = true
    setTimeout(() => (this.#isCurrent = false), QUERY_EVERY_MS).unref()
    const generation = this.#catalog.generation()
    if (generation === this.#generation) return
    const changed = this.#catalog.changedStreamers(this.#generation, generation)
    this.#generation = generation
    if (this.#streamers && this.#catalog.listStreamers() !== this.#listed)
      this.#streamers = undefined
    if (changed === 'all') this.#sessions.clear()
    else for (const streamer of changed) this.#sessions.delete(streamer)
  }
}

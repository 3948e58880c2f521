// GET /api/streamers, /api/sessions/{streamer}, /api/config: ready texts, made anew only when what they say has changed.
import type { FastifyInstance } from 'fastify'
import { LRUCache } from 'lru-cache'
import type {
  ConfigResponse,
  SessionsResponse,
  StreamerItem,
  StreamersResponse,
} from '../../shared/contract.ts'
import { pathPatterns } from '../../shared/paths.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { AppError } from '../errors.ts'
import { parseName } from './session-parameters.ts'
import type { SecurityHeaders } from './security-headers.ts'
import { sendText, TextResponse } from './text-response.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
/** Every list is revalidated: what changed shows at once, what did not costs a 304. */
const REVALIDATE = 'no-cache'
/** Asking the database costs a fifth of an answer, and who asks many times a second sees no change so soon. */
const LOOK_EVERY_MS = 50
const MAX_LISTS_BYTES = 24 * 1024 * 1024

export interface ListRouteOptions {
  catalog: Catalog
  config: ConfigResponse
  headers: SecurityHeaders
}

/** Registers the routes. */
export function addListRoutes(
  app: FastifyInstance,
  { catalog, config, headers }: ListRouteOptions,
): void {
  const toText: ToText = (value) =>
    new TextResponse(JSON.stringify(value), {
      contentType: JSON_TYPE,
      cacheControl: REVALIDATE,
      headers: headers.data,
    })
  const lists = new ListStrings(catalog, toText)
  const configText = toText(config)

  app.get(pathPatterns.streamers, (request, reply) => sendText(request, reply, lists.streamers()))

  app.get(pathPatterns.sessions, (request, reply) => {
    const text = lists.sessions(parseName(request.params, 'streamer'))
    if (text === undefined) throw new AppError('not_found', 'there is no such streamer')
    return sendText(request, reply, text)
  })

  app.get(pathPatterns.config, (request, reply) => sendText(request, reply, configText))
}

type ToText = (value: ConfigResponse | SessionsResponse | StreamersResponse) => TextResponse

/** The lists as texts, each kept as long as it says what the catalog says. */
class ListStrings {
  readonly #catalog: Catalog
  readonly #toText: ToText
  readonly #sessions = new LRUCache<string, TextResponse>({
    maxSize: MAX_LISTS_BYTES,
    sizeCalculation: (text) => text.sizeBytes + 1,
  })
  #streamers: TextResponse | undefined
  #listed: readonly StreamerItem[] = []
  #generation = -1
  #isLookedAt = false

  constructor(catalog: Catalog, toText: ToText) {
    this.#catalog = catalog
    this.#toText = toText
  }

  streamers(): TextResponse {
    this.#dropOld()
    if (this.#streamers !== undefined) return this.#streamers
    const streamers = this.#catalog.listStreamers()
    const answer: StreamersResponse = { streamers }
    this.#streamers = this.#toText(answer)
    this.#listed = streamers
    return this.#streamers
  }

  sessions(streamer: string): TextResponse | undefined {
    this.#dropOld()
    const known = this.#sessions.get(streamer)
    if (known !== undefined) return known
    const sessions: SessionsResponse | undefined = this.#catalog.listSessions(streamer)
    if (sessions === undefined) return undefined
    const text = this.#toText(sessions)
    this.#sessions.set(streamer, text)
    return text
  }

  #dropOld(): void {
    if (this.#isLookedAt) return
    this.#isLookedAt = true
    setTimeout(() => (this.#isLookedAt = false), LOOK_EVERY_MS).unref()
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

// GET /api/streamers, /api/sessions/{streamer}, /api/config: ready texts, made anew only when the catalog has changed.
import type { FastifyInstance } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { ConfigAnswer, SessionsAnswer, StreamersAnswer } from '../../shared/contract.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { AppError } from '../errors.ts'
import { parseName } from './session-parameters.ts'
import { sendText, TextAnswer } from './text-answer.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
/** Every list is revalidated: what changed shows at once, what did not costs a 304. */
const REVALIDATE = 'no-cache'
const MAX_LISTS_BYTES = 64 * 1024 * 1024

export interface ListRouteOptions {
  catalog: Catalog
  config: ConfigAnswer
}

/** Registers the routes. */
export function addListRoutes(app: FastifyInstance, { catalog, config }: ListRouteOptions): void {
  const lists = new ListTexts(catalog)
  const configText = jsonText(config)

  app.get('/api/streamers', async (request, reply) => sendText(request, reply, lists.streamers()))

  app.get('/api/sessions/:streamer', async (request, reply) => {
    const text = lists.sessions(parseName(request.params, 'streamer'))
    if (text === undefined) throw new AppError('not_found', 'there is no such streamer')
    return sendText(request, reply, text)
  })

  app.get('/api/config', async (request, reply) => sendText(request, reply, configText))
}

/** The lists as texts, kept as long as the catalog's generation stays. */
class ListTexts {
  readonly #catalog: Catalog
  readonly #sessions = new LRUCache<string, TextAnswer>({
    maxSize: MAX_LISTS_BYTES,
    sizeCalculation: (text) => text.sizeBytes + 1,
  })
  #streamers: TextAnswer | undefined
  #generation: number | undefined

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  streamers(): TextAnswer {
    this.#dropOld()
    const answer = (): StreamersAnswer => ({ streamers: this.#catalog.listStreamers() })
    this.#streamers ??= jsonText(answer())
    return this.#streamers
  }

  sessions(streamer: string): TextAnswer | undefined {
    this.#dropOld()
    const known = this.#sessions.get(streamer)
    if (known !== undefined) return known
    const sessions: SessionsAnswer | undefined = this.#catalog.listSessions(streamer)
    if (sessions === undefined) return undefined
    const text = jsonText(sessions)
    this.#sessions.set(streamer, text)
    return text
  }

  #dropOld(): void {
    const generation = this.#catalog.generation()
    if (generation === this.#generation) return
    this.#generation = generation
    this.#streamers = undefined
    this.#sessions.clear()
  }
}

function jsonText(value: unknown): TextAnswer {
  return new TextAnswer(JSON.stringify(value), { contentType: JSON_TYPE, cacheControl: REVALIDATE })
}

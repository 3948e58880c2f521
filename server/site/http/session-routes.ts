// GET /api/session/… and /api/details/…: what the page shows of a session and of a streamer besides
// the lists.
import type { FastifyInstance } from 'fastify'
import { pathPatterns, sessionKey } from '../../../shared/paths.ts'
import type { Gate } from '../../base/admission/gate.ts'
import type { Catalog } from '../../library/catalog/catalog.ts'
import { streamerTags } from '../purge/cache-tags.ts'
import { admitted } from './admitted.ts'
import type { AbandonableHandler } from './admitted.ts'
import { findPlayable } from './find-playable.ts'
import { CurrentTexts } from './responses/current-texts.ts'
import { sendText, TextResponse } from './responses/text-response.ts'
import type { TextResponseOptions } from './responses/text-response.ts'
import type { SessionDetails } from './session-details.ts'
import { parseName } from './session-parameters.ts'
import type { StreamerDetails } from './streamer-details.ts'

export interface SessionRouteOptions {
  catalog: Catalog
  sessionDetails: SessionDetails
  streamerDetails: StreamerDetails
  /** Admits requests that read recordings. */
  gate: Gate
  /** Headers of every response. */
  headers: TextResponseOptions['headers']
}

const JSON_TYPE = 'application/json; charset=utf-8'
/** As the lists: a change is visible immediately, no change costs a 304. */
const REVALIDATE = 'no-cache'
const MAX_SESSION_BYTES = 16 * 1024 * 1024

/** Registers the routes. */
export function addSessionRoutes(
  app: FastifyInstance,
  { catalog, sessionDetails, streamerDetails, gate, headers }: SessionRouteOptions,
): void {
  const texts = new CurrentTexts(MAX_SESSION_BYTES)
  const toResponse = (text: string, tags = {}): TextResponse =>
    new TextResponse(text, {
      contentType: JSON_TYPE,
      cacheControl: REVALIDATE,
      headers: { ...headers, ...tags },
    })

  const sendSession: AbandonableHandler = async (request, reply, signal) => {
    request.kind = 'list'
    const row = findPlayable(catalog, request, reply)
    const text = JSON.stringify(await sessionDetails.find(row, signal))
    return sendText(
      request,
      reply,
      texts.find(sessionKey(row), text, () => toResponse(text)),
    )
  }

  const sendStreamer: AbandonableHandler = async (request, reply, signal) => {
    request.kind = 'list'
    const streamer = parseName(request.params, 'streamer')
    const tags = streamerTags(streamer)
    const response = await streamerDetails.find(streamer, {
      signal,
      toResponse: (value) => toResponse(JSON.stringify(value), tags),
    })
    return sendText(request, reply, response)
  }

  app.get(pathPatterns.session, admitted(gate, sendSession))
  app.get(pathPatterns.details, admitted(gate, sendStreamer))
}

// GET /api/storyboard/…: the WebVTT file of a session's storyboard, and its sheets of tiles.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import { pathPatterns, sessionKey } from '../../../shared/paths.ts'
import type { Catalog } from '../../library/catalog/catalog.ts'
import { sliceChunks } from '../../stream/delivery/chunk-source.ts'
import { sendBody, sendHead } from '../../stream/delivery/send-body.ts'
import { AppError } from '../../base/errors.ts'
import { SUBTITLE_TYPE } from '../../stream/hls/playlist/media-types.ts'
import { formatStoryboard } from '../../decode/storyboards/format-vtt.ts'
import { SHEET_TILES } from '../../decode/storyboards/plan-storyboard.ts'
import { parseSheetName } from '../../decode/storyboards/sheets.ts'
import type { Storyboards } from '../../decode/storyboards/storyboards.ts'
import { abandonable } from './admitted.ts'
import type { AbandonableHandler } from './admitted.ts'
import { findPlayable } from './find-playable.ts'
import { CurrentTexts } from './responses/current-texts.ts'
import { setServerTiming } from './responses/server-timing.ts'
import { sendText, TextResponse } from './responses/text-response.ts'
import type { TextResponseOptions } from './responses/text-response.ts'
import { IMMUTABLE } from './segment-response.ts'
import { parseName } from './session-parameters.ts'
import { SessionStoryboards } from './session-storyboards.ts'
import type { SessionStoryboardsOptions } from './session-storyboards.ts'

export interface StoryboardRouteOptions extends SessionStoryboardsOptions {
  catalog: Catalog
  storyboards: Storyboards
  headers: Headers
}

/** Headers of every response: they bypass Fastify's hooks. */
type Headers = TextResponseOptions['headers']

/** As the playlist. */
const GROWING_CACHE = 'public, max-age=2'
const FINISHED_CACHE = 'public, max-age=3600'
/** A sheet that has fewer tiles than it will have, or lacks frames that may be decoded later. */
const PASSING_CACHE = 'public, max-age=60'
/** Of 300 sessions with 200 cues each. */
const MAX_TEXTS_BYTES = 16 * 1024 * 1024

/** Registers the routes. */
export function addStoryboardRoutes(
  app: FastifyInstance,
  { catalog, storyboards, headers, ...sources }: StoryboardRouteOptions,
): void {
  const texts = new CurrentTexts(MAX_TEXTS_BYTES)
  const shown = new SessionStoryboards(sources)

  const sendStoryboard: AbandonableHandler = async (request, reply, signal) => {
    request.kind = 'storyboard'
    const row = findPlayable(catalog, request, reply)
    if (!storyboards.canRender) throw new AppError('not_found', 'there is no storyboard')
    const { plan, sheets, isGrowing } = await shown.find(row, signal)
    const cacheControl = isGrowing ? GROWING_CACHE : FINISHED_CACHE
    const versions = sheets.map(({ version }) => version)
    const facts = [cacheControl, plan.durationMs, plan.stepMs, ...versions].join(' ')
    const text = texts.find(sessionKey(row), facts, () => {
      const format = { contentType: SUBTITLE_TYPE, cacheControl, headers }
      return new TextResponse(formatStoryboard(plan, sheets), format)
    })
    return sendText(request, reply, text)
  }

  const sendSheet: AbandonableHandler = async (request, reply, signal) => {
    request.kind = 'storyboard'
    const name = parseSheetName(parseName(request.params, 'file'))
    const row = findPlayable(catalog, request, reply)
    const found = name && (await shown.findSheet(row, name, signal))
    if (found === undefined) throw new AppError('not_found', 'there is no such file')
    const { sheet, isGrowing } = found
    const etag = `"${sheet.version}"`
    const mayGrow = isGrowing && sheet.frames.length < SHEET_TILES
    void reply.header('cache-control', mayGrow ? PASSING_CACHE : IMMUTABLE)
    if (fresh(request.headers, { etag })) return reply.code(304).header('etag', etag).send()
    const { bytes, isLasting, release } = await storyboards.sheet(found, signal)
    try {
      // Without an ETag, a client that revalidates gets the frames that were missing.
      void reply.headers(isLasting ? { etag } : { 'cache-control': PASSING_CACHE })
      return await sendImage(request, reply, { bytes, headers })
    } finally {
      release()
    }
  }

  app.get(pathPatterns.storyboard, abandonable(sendStoryboard))
  app.get(pathPatterns.storyboardFile, abandonable(sendSheet))
}

async function sendImage(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, headers }: { bytes: Uint8Array; headers: Headers },
): Promise<unknown> {
  const entity = { 'content-type': 'image/jpeg', 'content-length': bytes.length }
  void reply.headers({ ...headers, ...entity })
  setServerTiming(request, reply)
  if (request.method === 'HEAD') return sendHead(reply)
  await sendBody(reply, sliceChunks(bytes))
  return reply
}

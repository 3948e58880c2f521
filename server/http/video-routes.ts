// GET /api/video/…: playlist, key, init and media segments of one session.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Catalog, SessionRow } from '../catalog/catalog.ts'
import { AppError } from '../errors.ts'
import type { BufferPool } from '../hls/buffer-pool.ts'
import type { OpenRecording, Packager } from '../hls/packager.ts'
import { parseSegmentFileName } from '../hls/playlist.ts'
import type { SegmentFile } from '../hls/playlist.ts'
import type { FileStat } from '../storage/storage.ts'
import { answerSegment, IMMUTABLE, SEGMENT_TYPES } from './segment-answer.ts'
import { parseName, parseSessionParameters } from './session-parameters.ts'
import { sendText, TextAnswer } from './text-answer.ts'

export interface VideoRouteOptions {
  catalog: Catalog
  packager: Packager
  buffers: BufferPool
  /** Whether a recording has been still for so long that it counts as finished. */
  isSettled: (stat: FileStat) => boolean
}

const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl'
const PLAYLIST_CACHE = 'public, max-age=3600'
/** A recording that may still be written to has another playlist soon. */
const FRESH_PLAYLIST_CACHE = 'public, max-age=2'
const MAX_PLAYLISTS = 256

/** Registers the routes. */
export function addVideoRoutes(app: FastifyInstance, options: VideoRouteOptions): void {
  const playlists = new LRUCache<string, TextAnswer>({ max: MAX_PLAYLISTS })
  const base = '/api/video/:streamer/:date/:sessionId'

  app.get(`${base}/playlist.m3u8`, async (request, reply) => {
    const { file, presentation } = await openRecording(request, options)
    await file.close()
    const cacheControl = options.isSettled(file.stat) ? PLAYLIST_CACHE : FRESH_PLAYLIST_CACHE
    const key = `${presentation.urlVersion} ${cacheControl}`
    const known = playlists.get(key)
    if (known !== undefined) return sendText(request, reply, known)
    const text = presentation.playlist()
    const answer = new TextAnswer(text, { contentType: PLAYLIST_TYPE, cacheControl })
    playlists.set(key, answer)
    return sendText(request, reply, answer)
  })

  app.get(`${base}/:version/:file`, async (request, reply) => {
    const version = parseName(request.params, 'version')
    const wanted = parseSegmentFileName(parseName(request.params, 'file'))
    if (wanted === undefined) throw new AppError('not_found', 'there is no such file')
    const recording = await openRecording(request, options)
    if (recording.presentation.urlVersion !== version) {
      await recording.file.close()
      throw new AppError('not_found', 'the recording has changed')
    }
    return answerFile(wanted, recording, { request, reply, buffers: options.buffers })
  })
}

async function openRecording(
  request: FastifyRequest,
  options: VideoRouteOptions,
): Promise<OpenRecording> {
  const session = parseSessionParameters(request.params)
  const row = options.catalog.findSession(session)
  return options.packager.open({ session, path: requirePlayable(row).path })
}

/** @throws AppError `not_found`, `unplayable` */
function requirePlayable(row: SessionRow | undefined): SessionRow {
  if (row === undefined) throw new AppError('not_found', 'there is no such session')
  if (row.state.status === 'unplayable') throw new AppError('unplayable', row.state.reason)
  return row
}

async function answerFile(
  wanted: SegmentFile,
  recording: OpenRecording,
  {
    request,
    reply,
    buffers,
  }: { request: FastifyRequest; reply: FastifyReply; buffers: BufferPool },
): Promise<FastifyReply> {
  const { file, presentation } = recording
  if (wanted.kind === 'segment' && wanted.form === presentation.form) {
    return answerSegment(request, reply, { number: wanted.number, recording, buffers })
  }
  await file.close()
  if (wanted.kind === 'key' && presentation.key !== undefined) {
    return reply
      .headers({ 'content-type': 'application/octet-stream', 'cache-control': 'no-store' })
      .send(presentation.key)
  }
  const init = wanted.kind === 'init' ? presentation.init(wanted.segmentNumber) : undefined
  if (init === undefined) throw new AppError('not_found', 'there is no such file')
  return reply
    .headers({ 'content-type': SEGMENT_TYPES.fmp4, 'cache-control': IMMUTABLE })
    .send(init)
}

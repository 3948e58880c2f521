// GET /api/video/…: playlist, key, init segments, media segments and subtitles of a session.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { pathPatterns, sessionKey } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import type { Gate } from '../../base/admission/gate.ts'
import type { Catalog, SessionRow } from '../../library/catalog/catalog.ts'
import type { SegmentSender } from '../../stream/delivery/segment-sender.ts'
import { parseFileName } from '../../stream/hls/playlist/segment-names.ts'
import type { HlsFile } from '../../stream/hls/session/open-session.ts'
import type { SessionOpener } from '../../stream/hls/session/session-opener.ts'
import type { TextFile } from '../../stream/hls/session/session-playlists.ts'
import { admitted } from './admitted.ts'
import type { AbandonableHandler } from './admitted.ts'
import { fileKind } from './request-kind.ts'
import { sendSegment, IMMUTABLE } from './segment-response.ts'
import { findPlayable } from './find-playable.ts'
import { CurrentTexts } from './responses/current-texts.ts'
import { startPhase } from './responses/server-timing.ts'
import { parseAudio, parseName } from './session-parameters.ts'
import { sendText, TextResponse } from './responses/text-response.ts'
import type { TextResponseOptions } from './responses/text-response.ts'

export interface VideoRouteOptions {
  catalog: Catalog
  sessions: SessionOpener
  sender: SegmentSender
  /** Admits requests that read recordings. */
  gate: Gate
  /** Headers of every response. */
  headers: TextResponseOptions['headers']
  /** A visitor opens a session that is not inspected yet. */
  onRequested: (session: SessionReference) => void
}

const TEXT_CACHE_CONTROL = {
  /** The playlist of a growing recording changes soon. */
  short: 'public, max-age=2',
  hour: 'public, max-age=3600',
  immutable: IMMUTABLE,
} as const
/** A playlist of a day in segments of 6 s takes 3 MB, counted three times. */
const MAX_TEXTS_BYTES = 64 * 1024 * 1024

/** Registers the routes. */
export function addVideoRoutes(
  app: FastifyInstance,
  { catalog, sessions, sender, gate, headers, onRequested }: VideoRouteOptions,
): void {
  const texts = new CurrentTexts(MAX_TEXTS_BYTES)

  const prepareText = (row: SessionRow, file: string, text: TextFile): TextResponse => {
    const { contentType, caching } = text
    const cacheControl = TEXT_CACHE_CONTROL[caching]
    return texts.find(
      `${sessionKey(row)}/${file}`,
      `${text.version} ${cacheControl}`,
      () => new TextResponse(text.format(), { contentType, cacheControl, headers }),
    )
  }

  const sendPlaylist: AbandonableHandler = async (request, reply) => {
    request.kind = 'playlist'
    const audio = parseAudio(request.query)
    const row = findPlayable(catalog, request, reply)
    if (row.state.status === 'found') onRequested(row)
    const endOpen = startPhase(request, 'open')
    const session = await sessions.open(row)
    endOpen()
    try {
      const endPlaylist = startPhase(request, 'playlist')
      const text = await session.playlist(audio)
      endPlaylist()
      return await sendText(request, reply, prepareText(row, text.selection ?? '', text))
    } finally {
      await session.close()
    }
  }

  const sendFile: AbandonableHandler = async (request, reply, signal) => {
    const version = parseName(request.params, 'version')
    const fileName = parseName(request.params, 'file')
    const name = parseFileName(fileName)
    request.kind = fileKind(name)
    const row = findPlayable(catalog, request, reply)
    const { file, session } = await sessions.openFile(row, {
      version,
      name,
      signal,
      startPhase: (phase) => startPhase(request, phase),
    })
    try {
      if (file.kind === 'segment') {
        return await sendSegment(request, reply, { segment: file.segment, sender, headers, signal })
      }
      if (file.kind === 'text') {
        const text = prepareText(row, `${version}/${fileName}`, file.text)
        return await sendText(request, reply, text)
      }
      return await sendBytes(reply, file)
    } finally {
      await session.close()
    }
  }

  app.get(pathPatterns.playlist, admitted(gate, sendPlaylist))
  app.get(pathPatterns.playlistFile, admitted(gate, sendFile))
}

function sendBytes(
  reply: FastifyReply,
  file: Extract<HlsFile, { kind: 'key' | 'init' }>,
): FastifyReply {
  const headers =
    file.kind === 'key'
      ? { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' }
      : { 'content-type': file.contentType, 'cache-control': IMMUTABLE }
  return reply.headers(headers).send(Buffer.from(file.bytes))
}

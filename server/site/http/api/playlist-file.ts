// GET /api/video/…/{version}/{file}: what playlists reference: keys, init segments, media segments,
// subtitles, and playlists of renditions.
import { outsidePatterns } from '../../../../shared/paths.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import { sentBytes } from '../../../stream/delivery/segment-sender.ts'
import type { Segment, SegmentSender } from '../../../stream/delivery/segment-sender.ts'
import { parseFileName } from '../../../stream/hls/playlist/segment-names.ts'
import type { HlsFile } from '../../../stream/hls/session/open-session.ts'
import type { ApiSources } from './api-sources.ts'
import { findPlayable } from './find-playable.ts'
import type { Answer, Call, Endpoint } from '../responses/answer.ts'
import { fileKind } from '../responses/request-kind.ts'
import { startPhase } from '../responses/server-timing.ts'
import { parseName } from '../session-parameters.ts'
import { answerTextFile } from './text-file.ts'

export function createPlaylistFileEndpoint(sources: ApiSources): Endpoint {
  const { catalog, sessions, sender, admission } = sources
  return {
    path: outsidePatterns.playlistFile,
    admission: admission.recordings,
    answer: async (call) => {
      const { request, signal } = call
      const version = parseName(request.params, 'version')
      const fileName = parseName(request.params, 'file')
      const name = parseFileName(fileName)
      request.kind = fileKind(name)
      const row = findPlayable(catalog, call)
      const { file, session } = await sessions.openFile(row, {
        version,
        name,
        signal,
        startPhase: (phase) => startPhase(request, phase),
      })
      const answer =
        file.kind === 'segment'
          ? answerSegment(file.segment, sender, call)
          : answerFile(row, `${version}/${fileName}`, file)
      return { ...answer, release: async () => session.close() }
    },
  }
}

function answerSegment(segment: Segment, sender: SegmentSender, { request, signal }: Call): Answer {
  return {
    body: {
      kind: 'stream',
      sizeBytes: sentBytes(segment),
      etag: segment.etag,
      send: async (reply, { start, end }) =>
        sender.send(reply, segment, {
          start,
          end,
          signal,
          onSource: (cache) => {
            request.served = { transcoded: segment.isTranscoded ?? false, cache }
          },
        }),
    },
    type: segment.contentType,
    cache: segment.body.isLasting === false ? 'minute' : 'immutable',
    security: 'data',
  }
}

function answerFile(
  session: SessionReference,
  path: string,
  file: Exclude<HlsFile, { kind: 'segment' }>,
): Answer {
  if (file.kind === 'text') return answerTextFile(session, path, file.text)
  return {
    body: { kind: 'bytes', bytes: file.bytes },
    type: file.kind === 'key' ? 'application/octet-stream' : file.contentType,
    cache: file.kind === 'key' ? 'never' : 'immutable',
    security: 'data',
  }
}

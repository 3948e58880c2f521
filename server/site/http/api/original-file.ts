// GET /api/original/…/{file}: the recording of a session as it is.
import { outsidePatterns } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import { segmentBody } from '../../../stream/delivery/segment-body.ts'
import type { Segment } from '../../../stream/delivery/segment-sender.ts'
import type { OpenSession } from '../../../stream/hls/session/open-session.ts'
import type { Endpoint } from '../responses/answer.ts'
import { parseName } from '../session-parameters.ts'
import { originalFileName } from '../site/session-text.ts'
import type { ApiSources } from './api-sources.ts'
import { findPlayable } from './find-playable.ts'

export function createOriginalFileEndpoint(sources: ApiSources): Endpoint {
  const { catalog, sessions, sender, admission } = sources
  return {
    path: outsidePatterns.originalFile,
    kind: 'original',
    admission: admission.audioFiles,
    answer: async (call) => {
      const { request, signal } = call
      const name = parseName(request.params, 'file')
      const row = findPlayable(catalog, call)
      const session = await sessions.openListed(row)
      try {
        if (name !== originalFileName(row.sessionId, session.parts)) throw noFile()
        const segment = await openOriginal(session)
        return {
          body: {
            kind: 'stream',
            sizeBytes: segment.body.sizeBytes,
            etag: segment.etag,
            send: async (reply, window) => sender.send(reply, segment, { ...window, signal }),
          },
          type: segment.contentType,
          // The recording may be replaced.
          cache: 'revalidate',
          security: 'data',
          release: async () => session.close(),
        }
      } catch (error) {
        await session.close()
        throw error
      }
    },
  }
}

/** @throws AppError `not_found` for a session that grows, or has several recordings */
async function openOriginal(session: OpenSession): Promise<Segment> {
  const sole = await session.soleRecording()
  if (sole === undefined) throw noFile()
  const { recording, file } = sole
  const { sizeBytes } = file.stat
  return {
    etag: `"${recording.urlVersion}-${sizeBytes}"`,
    contentType: 'application/octet-stream',
    body: segmentBody([{ kind: 'range', offset: 0, length: sizeBytes }]),
    file,
    encryption: undefined,
    checkUnchanged: async () => recording.checkUnchanged(file),
  }
}

function noFile(): AppError {
  return new AppError('not_found', 'there is no such file')
}

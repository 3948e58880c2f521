// The response with a text file of a session: a playlist, or subtitles.
import { sessionKey } from '../../../../shared/paths.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { TextFile } from '../../../stream/hls/session/session-playlists.ts'
import type { Answer } from '../responses/answer.ts'

/** `file` distinguishes the files of the session. */
export function answerTextFile(session: SessionReference, file: string, text: TextFile): Answer {
  const { version, contentType, caching } = text
  return {
    body: {
      kind: 'text',
      cached: { key: `video ${sessionKey(session)}/${file}`, version: `${version} ${caching}` },
      format: () => text.format(),
    },
    type: contentType,
    cache: caching,
    security: 'data',
  }
}

// GET /api/video/…/playlist.m3u8: the playlist of a session.
import { closingAsync } from '../../../base/closing.ts'
import { pathPatterns } from '../../../../shared/paths.ts'
import type { ApiSources } from './api-sources.ts'
import { findPlayable } from './find-playable.ts'
import type { Endpoint } from '../responses/answer.ts'
import { startPhase } from '../responses/server-timing.ts'
import { parseAudio, parseQuality } from '../session-parameters.ts'
import { answerTextFile } from './text-file.ts'

export function createPlaylistEndpoint(sources: ApiSources): Endpoint {
  const { catalog, sessions, admission, onRequested } = sources
  return {
    path: pathPatterns.playlist,
    kind: 'playlist',
    admission: admission.recordings,
    answer: async (call) => {
      const { request } = call
      const row = findPlayable(catalog, call)
      const [audio, quality] = [parseAudio(request.query), parseQuality(request.query)]
      if (row.state.status === 'found') onRequested(row)
      const endOpen = startPhase(request, 'open')
      const session = await sessions.open(row)
      endOpen()
      await using _closing = closingAsync(session)
      const endPlaylist = startPhase(request, 'playlist')
      const text = await session.playlist({ audio, quality })
      endPlaylist()
      return answerTextFile(row, text.selection ?? '', text)
    },
  }
}

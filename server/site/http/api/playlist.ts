// GET /api/video/…/playlist.m3u8: the playlist of a session.
import { pathPatterns } from '../../../../shared/paths.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { Admission } from '../../../base/admission/limits.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import type { SessionOpener } from '../../../stream/hls/session/session-opener.ts'
import { findPlayable } from './find-playable.ts'
import type { Endpoint } from '../responses/answer.ts'
import { startPhase } from '../responses/server-timing.ts'
import { parseAudio, parseQuality } from '../session-parameters.ts'
import { answerTextFile } from './text-file.ts'

interface Sources {
  catalog: Catalog
  sessions: SessionOpener
  admission: Pick<Admission, 'recordings'>
  /** A visitor opens a session that is not inspected yet. */
  onRequested: (session: SessionReference) => void
}

export function createPlaylistEndpoint(sources: Sources): Endpoint {
  const { catalog, sessions, admission, onRequested } = sources
  return {
    path: pathPatterns.playlist,
    kind: 'playlist',
    admission: admission.recordings,
    answer: async (call) => {
      const { request } = call
      const [audio, quality] = [parseAudio(request.query), parseQuality(request.query)]
      const row = findPlayable(catalog, call)
      if (row.state.status === 'found') onRequested(row)
      const endOpen = startPhase(request, 'open')
      const session = await sessions.open(row)
      endOpen()
      try {
        const endPlaylist = startPhase(request, 'playlist')
        const text = await session.playlist({ audio, quality })
        endPlaylist()
        return answerTextFile(row, text.selection ?? '', text)
      } finally {
        await session.close()
      }
    },
  }
}

// The player at `/p/:streamer/:date/:sessionId`.
import { useCallback, useState } from 'react'
import { useBeginVideo } from '../analytics/use-analytics.ts'
import type { PageApi } from '../api/page-api.ts'
import { playerPagePath, sessionsPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { BackButton } from '../ui/back-button.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import type { ReadySessions } from './ready-sessions.ts'
import { Recommended } from './recommended.tsx'
import { VideoPlayer } from './video-player.tsx'

interface PlayerPageProps {
  api: PageApi
  readySessions: ReadySessions
  session: SessionReference
}

export function PlayerPage({ api, readySessions, session }: PlayerPageProps) {
  const { streamer, date, sessionId } = session
  const beginVideo = useBeginVideo(session)
  const source = api.playlistUrl(session)
  const [shown, setShown] = useState<string>()
  const onPicture = useCallback(() => setShown(source), [source])
  const title = `${streamer} - ${date} - ${sessionId}`
  return (
    <>
      <PageHeader
        heading={title}
        size="session"
        back={<BackButton parent={sessionsPagePath(streamer)} />}
      />
      {/* No key: the element lives on from session to session, and with it volume and full screen. */}
      <VideoPlayer
        config={api.config()}
        readySessions={readySessions}
        source={source}
        poster={api.thumbnailUrl(session)}
        label={title}
        onPicture={onPicture}
        onPlaying={beginVideo}
      />
      <Recommended
        key={playerPagePath(session)}
        api={api}
        streamer={streamer}
        isDue={shown === source}
      />
    </>
  )
}

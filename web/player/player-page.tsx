// The player at `/p/:streamer/:date/:sessionId`.
import { useCallback, useState } from 'react'
import { useBeginVideo } from '../analytics/use-analytics.ts'
import type { PageApi } from '../api/page-api.ts'
import { playerPagePath, sessionsPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { BackButton } from '../ui/back-button.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import type { SessionPreloader } from './session-preloader.ts'
import { Recommended } from './recommended.tsx'
import { VideoPlayer } from './video-player.tsx'

interface PlayerPageProps {
  api: PageApi
  preloader: SessionPreloader
  session: SessionReference
}

export function PlayerPage({ api, preloader, session }: PlayerPageProps) {
  const { streamer, date, sessionId } = session
  const beginVideo = useBeginVideo(session)
  const source = api.playlistUrl(session)
  const [startedSource, setStartedSource] = useState<string>()
  const onFirstFrame = useCallback(() => setStartedSource(source), [source])
  const title = `${streamer} - ${date} - ${sessionId}`
  return (
    <>
      <PageHeader
        heading={title}
        size="session"
        back={<BackButton parent={sessionsPagePath(streamer)} />}
      />
      {/* No key: the element is reused for the next session, with its volume and full screen. */}
      <VideoPlayer
        config={api.config()}
        preloader={preloader}
        source={source}
        poster={api.thumbnailUrl(session)}
        label={title}
        onFirstFrame={onFirstFrame}
        onPlaying={beginVideo}
      />
      <Recommended
        key={playerPagePath(session)}
        api={api}
        streamer={streamer}
        isDue={startedSource === source}
      />
    </>
  )
}

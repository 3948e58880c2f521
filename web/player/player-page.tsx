// The player at `/p/:streamer/:date/:sessionId`.
import { useEffect, useRef, useState } from 'react'
import type { RefObject } from 'react'
import { useBeginVideo } from '../analytics/use-analytics.ts'
import type { PageApi } from '../api/page-api.ts'
import { playerPagePath, sessionsPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { useDelayed } from '../ui/use-delayed.ts'
import { BackButton } from '../ui/back-button.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Name } from '../ui/name.tsx'
import { lazyPart } from './lazy-part.ts'
import type { Playback } from './playback/playback.ts'
import { isRefusal } from './playback/playback-state.ts'
import type { SessionPreloader } from './visit/session-preloader.ts'
import { Recommended } from './other-sessions/recommended.tsx'
import { usePlayback } from './playback/use-playback.ts'
import { VideoPlayer } from './video-player.tsx'
import styles from './player-page.module.css'

interface PlayerPageProps {
  api: PageApi
  preloader: SessionPreloader
  session: SessionReference
  /** Whether other sessions are shown beside it. */
  hasViews: boolean
}

/** What is below the video moves until the controls are there, so it is shown after them. */
const SETTLE_TIMEOUT_MS = 2000

const SessionControls = lazyPart(async () => {
  const module = await import('./session-controls.tsx')
  return module.SessionControls
})
const ChatPanel = lazyPart(async () => {
  const module = await import('./rare-parts.ts')
  return module.ChatPanel
})
const UnavailableSession = lazyPart(async () => {
  const module = await import('./rare-parts.ts')
  return module.UnavailableSession
})

export function PlayerPage({ api, preloader, session, hasViews }: PlayerPageProps) {
  const { streamer, date, sessionId } = session
  const beginVideo = useBeginVideo(session)
  const source = api.playlistUrl(session)
  const [opened, setOpened] = useState<{ source: string; playback: Playback }>()
  const playback = opened?.source === source ? opened.playback : undefined
  const isUnavailable = usePlayback(playback, ({ phase }) => isRefusal(phase))
  const [startedSource, setStartedSource] = useState<string>()
  const isStarted = startedSource === source
  const [settledSource, setSettledSource] = useState<string>()
  const isDue = isStarted || isUnavailable
  // The controls may not load.
  const hasWaited = useDelayed(isDue, SETTLE_TIMEOUT_MS)
  const isSettled = settledSource === source || hasWaited
  const playerRef = useRef<HTMLDivElement>(null)
  const [isTheatre, toggleTheatre] = useTheatre(playerRef)
  const hasPreroll = useHasPreroll(source, hasViews)
  const title = `${streamer} - ${date} - ${sessionId}`
  return (
    <>
      <PageHeader
        heading={title}
        names={
          <>
            <Name>{streamer}</Name> - <Name>{date}</Name> - <Name>{sessionId}</Name>
          </>
        }
        size="session"
        back={<BackButton parent={sessionsPagePath(streamer)} />}
      />
      <div
        ref={playerRef}
        data-player=""
        data-views={hasViews || undefined}
        data-settled={isSettled || undefined}
      >
        {isUnavailable ? (
          <UnavailableSession
            key={source}
            api={api}
            session={session}
            onSettled={setSettledSource}
          />
        ) : (
          <>
            {/* No key: the element is reused for the next session, with its full screen. */}
            <VideoPlayer
              config={hasPreroll ? api.config() : undefined}
              preloader={preloader}
              source={source}
              poster={api.posterUrl(session)}
              audioPoster={api.streamerThumbnailUrl(streamer)}
              label={title}
              onOpened={setOpened}
              onFirstFrame={setStartedSource}
              onPlaying={beginVideo}
            />
            <div className={styles.controls} data-below={(hasViews && !hasWaited) || undefined}>
              {startedSource !== undefined && playback && (
                <SessionControls
                  key={source}
                  api={api}
                  session={session}
                  playback={playback}
                  title={title}
                  isTheatre={isTheatre}
                  onTheatre={toggleTheatre}
                  ChatPanel={ChatPanel}
                  hasViews={hasViews}
                  onSettled={setSettledSource}
                />
              )}
            </div>
          </>
        )}
      </div>
      <Recommended
        key={playerPagePath(session)}
        api={api}
        session={session}
        isDue={isDue}
        isShown={isSettled}
      />
    </>
  )
}

/**
 * Decided once per source: with several views, there is one only before the page's first source.
 */
function useHasPreroll(source: string, hasViews: boolean): boolean {
  const [decided, setDecided] = useState({ source, hasPreroll: true })
  if (decided.source !== source) setDecided({ source, hasPreroll: !hasViews })
  return decided.hasPreroll
}

/** Whether theatre is on, and the function that toggles it. It ends with the page. */
function useTheatre(stage: RefObject<Element | null>): [isTheatre: boolean, toggle: () => void] {
  const [isTheatre, setIsTheatre] = useState(false)
  useEffect(() => {
    if (!isTheatre) return undefined
    const { dataset } = document.documentElement
    dataset['theatre'] = ''
    stage.current?.scrollIntoView({ block: 'nearest' })
    return () => void delete dataset['theatre']
  }, [isTheatre, stage])
  return [isTheatre, () => setIsTheatre(!isTheatre)]
}

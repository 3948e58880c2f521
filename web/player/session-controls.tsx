// What surrounds the video: controls below it, shortcuts, the end card, and the memory of the
// visitor's progress. Loaded after the first frame.
import { useCallback, useEffect, useState } from 'react'
import type { ComponentProps, ComponentType, ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { useNavigate } from 'react-router'
import type { SessionResponse } from '../../shared/contract.ts'
import { playerPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import type { PageApi } from '../api/page-api.ts'
import { joinDetails } from '../api/join-details.ts'
import { useResource } from '../api/use-resource.ts'
import { readPreferences, savePreferences } from './preferences.ts'
import { ChatButton } from './chat/chat-button.tsx'
import { useChat } from './chat/use-chat.ts'
import type { ChatPanelProps } from './chat/chat-panel.tsx'
import type { Playback } from './playback/playback.ts'
import { usePlayback } from './playback/use-playback.ts'
import { playFrom, runCommand, setRate } from './controls/commands.ts'
import { ContinueButton } from './continue-button.tsx'
import { ControlRow } from './controls/control-row.tsx'
import { EndCard } from './controls/end-card.tsx'
import { slowDownAtEdge } from './controls/live-edge.ts'
import { Moments } from './controls/moments/moments.tsx'
import { useStoryboard } from './controls/moments/storyboard/use-storyboard.ts'
import { lazyPart } from './lazy-part.ts'
import { openMediaSession } from './controls/media-session.ts'
import { findNeighbours } from './controls/neighbours.ts'
import type { Neighbours } from './controls/neighbours.ts'
import { StallSpinner } from './controls/stall-spinner.tsx'
import { KeyFeedback, useKeyResult } from './controls/shortcuts/key-feedback.tsx'
import { ShortcutsDialog } from './controls/shortcuts/shortcuts-dialog.tsx'
import type { Command } from './controls/shortcuts/shortcuts.ts'
import { useShortcuts } from './controls/shortcuts/use-shortcuts.ts'
import { QualityMenu } from './controls/tracks/quality-menu.tsx'
import { TrackMenus } from './controls/tracks/track-menus.tsx'
import { SessionStory } from './story/session-story.tsx'
import { useAround } from './story/use-around.ts'
import { useQuality } from './use-quality.ts'
import { useViews } from './views/use-views.ts'
import { useVolumeMemory, useWatchedSpans, useWatchHistory } from './use-session-memory.ts'

interface SessionControlsProps {
  api: PageApi
  /** A new component per session. */
  session: SessionReference
  playback: Playback
  title: string
  isTheatre: boolean
  onTheatre(this: void): void
  /** A chunk of its own. Imported here, it would split that of the page. */
  ChatPanel: ComponentType<ChatPanelProps>
  /** Whether other sessions are shown beside it. */
  hasViews: boolean
  /** Called with the URL of the playlist once the height of the controls is final. */
  onSettled(this: void, source: string): void
}

const Views = lazyPart(async () => {
  const module = await import('./views/views.tsx')
  return module.Views
})

/** Until they are loaded, and if they cannot be. */
const NO_DETAILS: Omit<SessionResponse, 'growing'> = {
  chapters: [],
  tracks: { audio: [], subtitles: [] },
  qualities: [],
}

export function SessionControls(props: SessionControlsProps) {
  const { api, session, playback, title, isTheatre, onTheatre, hasViews, ChatPanel, onSettled } =
    props
  const navigate = useNavigate()
  const details = useResource(api.session(session))
  const known = details.status === 'loaded' ? details.value : NO_DETAILS
  const { title: ownTitle, chapters, startTime, tracks, qualities } = known
  const base = api.playlistUrl(session)
  const settle = useCallback(() => onSettled(base), [onSettled, base])
  const storyboard = useStoryboard({ details, base, playback })
  const chat = useChat({ path: known.chat?.url, base, playback, session })
  const around = useAround(details, base)
  const { views, setViews, offerView } = useViews(session, hasViews)
  const neighbours = useNeighbours(api, session)
  const { previous, next } = neighbours
  const { watched, keepWatched } = useWatchedSpans(playback, session)
  const [isHelpOpen, setIsHelpOpen] = useState(false)

  function go(target: SessionReference | undefined): void {
    if (target) void navigate(playerPagePath(target))
  }

  function run(command: Command): void {
    if (command.name === 'theatre') onTheatre()
    else if (command.name === 'help') setIsHelpOpen(!isHelpOpen)
    else if (command.name === 'next') go(next)
    else if (command.name === 'previous') go(previous)
    else runCommand(command, playback)
    if (command.name === 'faster' || command.name === 'slower') rememberRate()
  }

  const rememberRate = (): void => savePreferences({ rate: playback.video.playbackRate })

  function selectAudio(audio: string): void {
    keepWatched()
    playback.playlist.select({ audio })
    savePreferences({ audio })
  }

  const { quality, hasPicture, note, selectQuality } = useQuality(playback, qualities, keepWatched)

  const [keyResult, runKey] = useKeyResult(playback.video, run)
  const shortcuts = useShortcuts(playback.video, runKey)
  useWatchHistory(playback, session)
  useVolumeMemory(playback)

  useEffect(() => {
    const { rate } = readPreferences()
    if (rate !== 1) setRate(playback.video, rate)
    return slowDownAtEdge(playback)
  }, [playback])

  useMediaSession(playback, {
    title: ownTitle ?? title,
    artist: session.streamer,
    artworkUrl: api.thumbnailUrl(session),
    previousPath: previous && playerPagePath(previous),
    nextPath: next && playerPagePath(next),
  })

  return (
    <>
      {/* The controls would move with the height of the timeline. */}
      {storyboard.room && (
        <>
          <Moments {...{ playback, storyboard, watched, chapters, startTime, chat, hasPicture }} />
          <ControlRow
            playback={playback}
            neighbours={neighbours}
            menus={
              <>
                <TrackMenus {...{ playback, tracks, base }} onAudio={selectAudio} />
                <QualityMenu {...{ qualities, quality }} onSelect={selectQuality} />
                {chat && <ChatButton chat={chat} />}
              </>
            }
            isTheatre={isTheatre}
            hasShortcuts={shortcuts.isOn}
            onCommand={run}
            onRate={(rate) => {
              setRate(playback.video, rate)
              rememberRate()
            }}
          />
          {chat && (
            <ChatPanel {...{ playback, chat }} onSeek={(seconds) => playFrom(playback, seconds)} />
          )}
          <SessionStory
            {...{ api, playback, session, details, around }}
            onSettled={settle}
            heading={title}
            offerView={offerView}
          />
        </>
      )}
      {views.length > 0 && (
        <Views {...{ api, playback, session, around, views }} onViews={setViews} />
      )}
      <StageOverlays {...{ api, session, playback, neighbours, keyResult }}>
        <StallSpinner
          {...{ playback, note }}
          qualities={storyboard.room && qualities}
          onQuality={selectQuality}
        />
      </StageOverlays>
      {isHelpOpen && <ShortcutsDialog shortcuts={shortcuts} onClose={() => setIsHelpOpen(false)} />}
    </>
  )
}

interface StageOverlaysProps extends Pick<SessionControlsProps, 'api' | 'session' | 'playback'> {
  neighbours: Neighbours
  keyResult: ComponentProps<typeof KeyFeedback>
  /** Below the others. */
  children: ReactNode
}

/** What covers the video. */
function StageOverlays(props: StageOverlaysProps) {
  const { api, session, playback, neighbours, keyResult, children } = props
  const hasEnded = usePlayback(playback, ({ phase }) => phase === 'ended')
  const stage = playback.video.parentElement
  if (!stage) return null
  return createPortal(
    <>
      {children}
      <KeyFeedback {...keyResult} />
      <ContinueButton playback={playback} session={session} />
      {hasEnded && (
        <EndCard
          playback={playback}
          neighbours={neighbours}
          thumbnailUrl={(other) => api.thumbnailUrl(other)}
        />
      )}
    </>,
    stage,
  )
}

interface MediaSessionNames {
  title: string
  artist: string
  artworkUrl: string
  previousPath: string | undefined
  nextPath: string | undefined
}

/** Registers the session with the system's media controls. */
function useMediaSession(playback: Playback, names: MediaSessionNames): void {
  const navigate = useNavigate()
  const { title, artist, artworkUrl, previousPath, nextPath } = names
  useEffect(() => {
    const open = (path: string | undefined) => path && (() => void navigate(path))
    return openMediaSession(playback, {
      title,
      artist,
      artworkUrl,
      onPrevious: open(previousPath) || undefined,
      onNext: open(nextPath) || undefined,
    })
  }, [playback, navigate, title, artist, artworkUrl, previousPath, nextPath])
}

function useNeighbours(api: PageApi, session: SessionReference): Neighbours {
  const list = useResource(api.sessions(session.streamer))
  const details = useResource(api.details(session.streamer))
  if (list.status !== 'loaded') return findNeighbours([], session)
  const known = details.status === 'loaded' ? details.value.sessions : []
  return findNeighbours(joinDetails(list.value, known), session)
}

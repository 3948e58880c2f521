// What surrounds the video: controls below it, shortcuts, the end card, and the memory of the
// visitor's progress. Loaded after the first frame.
import { useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { useNavigate } from 'react-router'
import type { SessionResponse } from '../../shared/contract.ts'
import { playerPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import type { PageApi } from '../api/page-api.ts'
import { joinDetails } from '../api/join-details.ts'
import { useResource } from '../api/use-resource.ts'
import { readPreferences, savePreferences } from './preferences.ts'
import type { Playback } from './playback/playback.ts'
import { usePlayback } from './playback/use-playback.ts'
import { runCommand, setRate } from './controls/commands.ts'
import { ContinueButton } from './continue-button.tsx'
import { ControlRow } from './controls/control-row.tsx'
import { EndCard } from './controls/end-card.tsx'
import { slowDownAtEdge } from './controls/live-edge.ts'
import { Moments } from './controls/moments/moments.tsx'
import { useStoryboard } from './controls/moments/storyboard/use-storyboard.ts'
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
import { useQuality } from './use-quality.ts'
import { useVolumeMemory, useWatchedSpans, useWatchHistory } from './use-session-memory.ts'

interface SessionControlsProps {
  api: PageApi
  /** A new component per session. */
  session: SessionReference
  playback: Playback
  title: string
  isTheatre: boolean
  onTheatre(this: void): void
  /** Called once the height of the controls is final. */
  onSettled(this: void): void
}

/** Until they are loaded, and if they cannot be. */
const NO_DETAILS: Omit<SessionResponse, 'growing'> = {
  chapters: [],
  tracks: { audio: [], subtitles: [] },
  qualities: [],
}

export function SessionControls(props: SessionControlsProps) {
  const { api, session, playback, title, isTheatre, onTheatre, onSettled } = props
  const navigate = useNavigate()
  const details = useResource(api.session(session))
  const known = details.status === 'loaded' ? details.value : NO_DETAILS
  const { title: ownTitle, chapters, startTime, tracks, qualities } = known
  const base = api.playlistUrl(session)
  const storyboard = useStoryboard({ details, base, playback })
  const neighbours = useNeighbours(api, session)
  const { previous, next } = neighbours
  const { watched, keepWatched } = useWatchedSpans(playback, session)
  const [isHelpOpen, setIsHelpOpen] = useState(false)
  const hasEnded = usePlayback(playback, ({ phase }) => phase === 'ended')

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

  const stage = playback.video.parentElement
  return (
    <>
      {/* The controls would move with the height of the timeline. */}
      {storyboard.room && (
        <>
          <Moments {...{ playback, storyboard, watched, chapters, startTime, hasPicture }} />
          <ControlRow
            playback={playback}
            neighbours={neighbours}
            menus={
              <>
                <TrackMenus {...{ playback, tracks, base }} onAudio={selectAudio} />
                <QualityMenu {...{ qualities, quality }} onSelect={selectQuality} />
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
          <SessionStory {...{ api, playback, session, details, onSettled }} heading={title} />
        </>
      )}
      {stage &&
        createPortal(
          <>
            <StallSpinner {...{ playback, qualities, note }} onQuality={selectQuality} />
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
        )}
      {isHelpOpen && <ShortcutsDialog shortcuts={shortcuts} onClose={() => setIsHelpOpen(false)} />}
    </>
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

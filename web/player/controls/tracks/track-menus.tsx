// The menus Audio and Subtitles, where a session has a choice.
import { useEffect, useLayoutEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import type { SessionResponse } from '../../../../shared/contract.ts'
import { findTrack, trackKey } from '../../../../shared/find-track.ts'
import type { Playback } from '../../playback/playback.ts'
import { Menu } from '../menu.tsx'
import { translate } from '../../../language/translate.ts'
import {
  allowSubtitlesOf,
  rememberedSubtitles,
  rememberSubtitles,
  showRememberedSubtitles,
  showSubtitles,
  subtitleTracks,
} from './subtitle-choice.ts'
import { nameTracks } from './track-names.ts'
import './cues.css'

type Tracks = SessionResponse['tracks']

interface TrackMenusProps {
  playback: Playback
  tracks: Tracks
  /** URL of the API on which the paths of subtitles are based. */
  base: string
  /** The visitor chose another audio; `audio` is its `trackKey`. */
  onAudio(this: void, audio: string): void
}

export function TrackMenus({ playback, tracks, base, onAudio }: TrackMenusProps) {
  const { video } = playback
  // Native HLS may have the tracks of the playlist.
  const [hasOwnSubtitles] = useState(() => subtitleTracks(video).length > 0)
  useLayoutEffect(() => rememberSubtitles(video), [video])
  useEffect(() => {
    return hasOwnSubtitles ? showRememberedSubtitles(video) : undefined
  }, [video, hasOwnSubtitles])
  return (
    <>
      {tracks.audio.length > 1 && (
        <AudioMenu playback={playback} tracks={tracks.audio} onAudio={onAudio} />
      )}
      {!hasOwnSubtitles && tracks.subtitles.length > 0 && (
        <SubtitleElements video={video} subtitles={tracks.subtitles} base={base} />
      )}
      <SubtitlesMenu video={video} />
    </>
  )
}

interface AudioMenuProps extends Pick<TrackMenusProps, 'playback' | 'onAudio'> {
  tracks: Tracks['audio']
}

function AudioMenu({ playback: { playlist }, tracks, onAudio }: AudioMenuProps) {
  const [selected, setSelected] = useState(() => Math.max(0, findTrack(tracks, playlist.audio)))
  return (
    <Menu
      label={translate('Audio')}
      icon="audio"
      items={nameTracks(tracks).map((label, at) => ({ label, isSelected: at === selected }))}
      onSelect={(at) => {
        if (at === selected) return
        setSelected(at)
        onAudio(trackKey(tracks, at))
      }}
    />
  )
}

function SubtitlesMenu({ video }: { video: HTMLVideoElement }) {
  const tracks = useSubtitles(video)
  if (tracks.length === 0) return null
  const names = nameTracks(tracks)
  const shown = tracks.findIndex(({ isShown }) => isShown)
  return (
    <Menu
      label={translate('Subtitles')}
      icon="subtitles"
      isActive={shown !== -1}
      items={[translate('Off'), ...names].map((label, at) => ({
        label,
        isSelected: at === shown + 1,
      }))}
      onSelect={(at) => showSubtitles(video, at - 1)}
    />
  )
}

interface SubtitleElementsProps {
  video: HTMLVideoElement
  subtitles: Tracks['subtitles']
  base: string
}

/** The browser loads the file of a track when it is shown. */
function SubtitleElements({ video, subtitles, base }: SubtitleElementsProps) {
  const api = new URL(base, location.href)
  const { origin } = api
  useLayoutEffect(() => allowSubtitlesOf(video, origin), [video, origin])
  // Read once: this visit changes it.
  const [remembered] = useState(() => rememberedSubtitles(subtitles))
  return createPortal(
    subtitles.map(({ label, language, url }, at) => (
      <track
        key={url}
        kind="subtitles"
        label={label}
        srcLang={language}
        default={at === remembered}
        src={new URL(url, api).href}
      />
    )),
    video,
  )
}

interface Subtitles {
  label: string
  /** BCP 47; empty if unknown. */
  language: string
  isShown: boolean
}

/** In the order of the element, whoever added them or shows them. */
function useSubtitles(video: HTMLVideoElement): readonly Subtitles[] {
  const [tracks, setTracks] = useState<readonly Subtitles[]>([])
  useEffect(() => {
    const left = new AbortController()
    const update = () => setTracks(subtitleTracks(video).map(describe))
    for (const type of ['change', 'addtrack', 'removetrack']) {
      video.textTracks.addEventListener(type, update, { signal: left.signal })
    }
    update()
    return () => left.abort()
  }, [video])
  return tracks
}

function describe({ label, language, mode }: TextTrack): Subtitles {
  return { label, language, isShown: mode === 'showing' }
}

// The video element with native controls, and the lifecycle of the session in it.
import { useLayoutEffect, useRef, useState } from 'react'
import type { ConfigResponse } from '../../shared/contract.ts'
import type { Resource } from '../api/resource.ts'
import { translate } from '../language/translate.ts'
import type { AutoplayAudio } from './visit/autoplay.ts'
import { enterSession, loadStart } from './visit/enter-session.ts'
import { afterFirstFrame } from './visit/first-frame.ts'
import { parseLinkedRange } from './visit/linked-range.ts'
import { playSession } from './engine/play-session.ts'
import type { Playback } from './playback/playback.ts'
import type { Playlist } from './playback/playlist.ts'
import type { SessionPreloader } from './visit/session-preloader.ts'
import { shapeStage } from './shape-stage.ts'
import { createVideoElement } from './video-element.ts'
import styles from './video-player.module.css'

interface VideoPlayerProps {
  /** Whether there is a pre-roll; undefined if there is none. */
  config: Resource<ConfigResponse> | undefined
  /** May contain this session, preloaded before the navigation. */
  preloader: SessionPreloader
  /** URL of the playlist. */
  source: string
  /** URL of the image shown until the first frame. */
  poster: string
  /** The same for a session without video. */
  audioPoster: string
  label: string
  /** Called once per source, with its state. */
  onOpened(this: void, opened: { source: string; playback: Playback }): void
  /** Called once per source: on the first frame, an error, or a timeout. */
  onFirstFrame(this: void, source: string): void
  /** Called whenever playback starts or resumes. */
  onPlaying(this: void): void
}

export function VideoPlayer(props: VideoPlayerProps) {
  const { config, preloader, source, poster, audioPoster, label } = props
  const { onOpened, onFirstFrame, onPlaying } = props
  const stageRef = useRef<HTMLDivElement>(null)
  const videoRef = useRef<HTMLVideoElement>(null)
  const playlistRef = useRef<Playlist>(null)
  const [audio, setAudio] = useState<AutoplayAudio>('audible')
  const [hasFrame, setHasFrame] = useState(false)

  // React does not render the element: it may be preloaded, and it is reused for the next session.
  useLayoutEffect(() => {
    const stage = stageRef.current
    if (!stage) return
    // The existing element is reused, because volume and full screen belong to it.
    const preloaded = videoRef.current ? undefined : preloader.take(source)
    const video = (videoRef.current ??= preloaded?.playback.video ?? createVideoElement())
    video.className = styles.video ?? ''
    // Inserting it again would stop playback and leave full screen.
    if (video.parentNode !== stage) stage.prepend(video)
    // Loads during the pre-roll.
    const range = parseLinkedRange(window.location.search)
    const findStart = async (signal: AbortSignal) => loadStart(config, range, signal)
    const { playback, end } = preloaded ?? playSession(video, source, { findStart })
    const leave = enterSession({ playback, stage, config, range, onAudio: setAudio })
    playlistRef.current = playback.playlist
    onOpened({ source, playback })
    return () => {
      leave()
      end()
    }
  }, [config, preloader, source, onOpened])

  useLayoutEffect(() => {
    const video = videoRef.current
    if (!video) return
    // If the first frame is there, it is better than the poster.
    if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) video.poster = poster
    video.setAttribute('aria-label', label)
  }, [poster, label])

  useLayoutEffect(() => {
    const [stage, video] = [stageRef.current, videoRef.current]
    const soundPoster = () => (playlistRef.current?.hasPicture === false ? poster : undefined)
    const options = { label, audioPoster, soundPoster }
    return stage && video ? shapeStage(stage, video, options) : undefined
  }, [label, audioPoster, poster])

  // This must run after the effect that inserts the element and starts the session.
  useLayoutEffect(() => {
    const left = new AbortController()
    const handleFirstFrame = (): void => {
      setHasFrame(true)
      onFirstFrame(source)
    }
    if (videoRef.current) afterFirstFrame(videoRef.current, left.signal, handleFirstFrame)
    return () => left.abort()
  }, [source, onFirstFrame])

  useLayoutEffect(() => {
    const video = videoRef.current
    video?.addEventListener('playing', onPlaying)
    return () => video?.removeEventListener('playing', onPlaying)
  }, [onPlaying])

  function unmute(): void {
    const video = videoRef.current
    if (!video) return
    video.muted = false
    // The button disappears, and its focus with it.
    video.focus({ preventScroll: true })
  }

  return (
    <div ref={stageRef} className={hasFrame ? styles.stage : styles.emptyStage}>
      {audio === 'muted' && (
        <button type="button" className={styles.unmute} onClick={unmute}>
          {translate('Unmute')}
        </button>
      )}
    </div>
  )
}

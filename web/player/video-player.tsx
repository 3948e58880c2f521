// The video element with the browser's own controls, and the life of what plays in it.
import { useLayoutEffect, useRef, useState } from 'react'
import type { ConfigResponse } from '../../shared/contract.ts'
import { openPreroll } from '../ads/open-preroll.ts'
import type { Resource } from '../api/resource.ts'
import { createAutoplay } from './autoplay.ts'
import type { Sound } from './autoplay.ts'
import { afterFirstPicture } from './first-picture.ts'
import { playSession } from './play-session.ts'
import type { ReadySessions } from './ready-sessions.ts'
import { createVideoElement } from './video-element.ts'
import styles from './video-player.module.css'

interface VideoPlayerProps {
  /** Says whether an ad stands before the video. */
  config: Resource<ConfigResponse>
  /** May hold the session that is to be played, begun before there was a page for it. */
  readySessions: ReadySessions
  /** URL of the playlist. */
  source: string
  /** URL of the picture shown until the first frame. */
  poster: string
  label: string
  /** Called once for each source, when its first picture is there or is not to be waited for. */
  onPicture(this: void): void
  /** Called whenever playback begins or goes on. */
  onPlaying(this: void): void
}

export function VideoPlayer(props: VideoPlayerProps) {
  const { config, readySessions, source, poster, label, onPicture, onPlaying } = props
  const stageRef = useRef<HTMLDivElement>(null)
  const videoRef = useRef<HTMLVideoElement>(null)
  const [sound, setSound] = useState<Sound>('heard')
  const [hasPicture, setHasPicture] = useState(false)

  // Not rendered: the element may have begun before there was a page for it, and lives on from session to session.
  useLayoutEffect(() => {
    const stage = stageRef.current
    if (!stage) return
    // Two elements would be two volumes: one that is there takes over the next session as well.
    const ready = videoRef.current ? undefined : readySessions.take(source)
    const video = (videoRef.current ??= ready?.video ?? createVideoElement())
    video.className = styles.video ?? ''
    // Put in again it would stop, and leave the full screen.
    if (video.parentNode !== stage) stage.prepend(video)
    const autoplay = createAutoplay(video, setSound)
    // It loads while the ad is shown.
    const endSession = ready?.end ?? playSession(video, source)
    const endPreroll = openPreroll({ config, stage, covered: video, onOver: autoplay.release })
    return () => {
      endPreroll()
      autoplay.dispose()
      endSession()
    }
  }, [config, readySessions, source])

  useLayoutEffect(() => {
    const video = videoRef.current
    if (!video) return
    // Where the first picture is there already, it is the better one.
    if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) video.poster = poster
    video.setAttribute('aria-label', label)
  }, [poster, label])

  // Behind the effect that puts the element in, and begins the session.
  useLayoutEffect(() => {
    const left = new AbortController()
    const notePicture = (): void => {
      setHasPicture(true)
      onPicture()
    }
    if (videoRef.current) afterFirstPicture(videoRef.current, left.signal, notePicture)
    return () => left.abort()
  }, [source, onPicture])

  useLayoutEffect(() => {
    const video = videoRef.current
    video?.addEventListener('playing', onPlaying)
    return () => video?.removeEventListener('playing', onPlaying)
  }, [onPlaying])

  function unmute(): void {
    const video = videoRef.current
    if (!video) return
    video.muted = false
    // The button goes, and with it the focus.
    video.focus({ preventScroll: true })
  }

  return (
    <div ref={stageRef} className={hasPicture ? styles.stage : styles.emptyStage}>
      {sound === 'silenced' && (
        <button type="button" className={styles.unmute} onClick={unmute}>
          Unmute
        </button>
      )}
    </div>
  )
}

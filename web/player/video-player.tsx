// The video element with the browser's own controls, and the life of what plays in it.
import { useEffect, useRef, useState } from 'react'
import type { ConfigAnswer } from '../../shared/contract.ts'
import { openPreroll } from '../ads/open-preroll.ts'
import type { Resource } from '../api/resource.ts'
import { createAutoplay } from './autoplay.ts'
import type { Sound } from './autoplay.ts'
import { playSession } from './play-session.ts'
import styles from './video-player.module.css'

interface VideoPlayerProps {
  /** Says whether an ad stands before the video. */
  config: Resource<ConfigAnswer>
  /** URL of the playlist. */
  source: string
  /** URL of the picture shown until the first frame. */
  poster: string
  label: string
  /** Called whenever playback begins or goes on. */
  onPlaying(this: void): void
}

export function VideoPlayer({ config, source, poster, label, onPlaying }: VideoPlayerProps) {
  const stageRef = useRef<HTMLDivElement>(null)
  const videoRef = useRef<HTMLVideoElement>(null)
  const [sound, setSound] = useState<Sound>('heard')

  useEffect(() => {
    const stage = stageRef.current
    const video = videoRef.current
    if (!stage || !video) return
    const autoplay = createAutoplay(video, setSound)
    // It loads while the ad is shown.
    const endSession = playSession(video, source)
    const endPreroll = openPreroll({ config, stage, covered: video, onOver: autoplay.release })
    return () => {
      endPreroll()
      autoplay.dispose()
      endSession()
    }
  }, [config, source])

  function unmute(): void {
    const video = videoRef.current
    if (!video) return
    video.muted = false
    // The button goes, and with it the focus.
    video.focus({ preventScroll: true })
  }

  return (
    <div ref={stageRef} className={styles.stage}>
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- recordings have no captions of their own */}
      <video
        ref={videoRef}
        className={styles.video}
        poster={poster}
        aria-label={label}
        controls
        playsInline
        preload="auto"
        onPlaying={onPlaying}
      />
      {sound === 'silenced' && (
        <button type="button" className={styles.unmute} onClick={unmute}>
          Unmute
        </button>
      )}
    </div>
  )
}

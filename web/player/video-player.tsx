// The video element with the browser's own controls, and the life of what plays in it.
import { useEffect, useRef } from 'react'
import { autoplay } from './autoplay.ts'
import { playSession } from './play-session.ts'
import styles from './video-player.module.css'

interface VideoPlayerProps {
  /** URL of the playlist. */
  source: string
  /** URL of the picture shown until the first frame. */
  poster: string
  label: string
  /** Called whenever playback begins or goes on. */
  onPlaying(this: void): void
}

export function VideoPlayer({ source, poster, label, onPlaying }: VideoPlayerProps) {
  const videoRef = useRef<HTMLVideoElement>(null)

  useEffect(() => {
    const video = videoRef.current
    if (!video) return
    const endAutoplay = autoplay(video)
    const endSession = playSession(video, source)
    return () => {
      endAutoplay()
      endSession()
    }
  }, [source])

  return (
    <div className={styles.stage}>
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
    </div>
  )
}

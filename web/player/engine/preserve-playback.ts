// Preserves position, play state and speed when an engine sets a new source, which resets them.

export interface PreservedPlayback {
  /**
   * The position in seconds, also while the element is reset (0), and after its source has failed
   * (the end).
   */
  position(this: void): number
  /** Sets what `position` returns until the element plays from there. */
  moveTo(this: void, seconds: number): void
  /** Continues playback if the visitor had not paused it. Call it after a new source is set. */
  resume(this: void): void
  /** Whether the visitor is waiting: playing, but without data. */
  isWaiting(this: void): boolean
  /** How many seconds the current source has played, in total, and the position. */
  played(this: void): { seconds: number; toSeconds: number }
}

/** Tracks the element until the signal aborts. */
export function preservePlayback(video: HTMLVideoElement, signal: AbortSignal): PreservedPlayback {
  // A new source pauses without these events (HTML, media element load algorithm).
  let isPlaying = !video.paused
  const trackState = ({ type }: Event) => void (isPlaying = type === 'play')
  video.addEventListener('play', trackState, { signal })
  video.addEventListener('pause', trackState, { signal })
  const preserveSpeed = () => void (video.defaultPlaybackRate = video.playbackRate)
  video.addEventListener('ratechange', preserveSpeed, { signal })
  let seconds = 0
  const trackPosition = () => {
    if (video.currentTime > 0 && !video.ended) seconds = video.currentTime
  }
  video.addEventListener('timeupdate', trackPosition, { signal })
  const trackSeek = () => void (seconds = video.currentTime)
  video.addEventListener('seeking', trackSeek, { signal })
  signal.addEventListener('abort', () => {
    video.defaultPlaybackRate = 1
  })
  return {
    position() {
      trackPosition()
      return seconds
    },
    moveTo: (next) => void (seconds = next),
    resume() {
      if (!isPlaying || !video.paused) return
      // If it is blocked, the visitor has the controls.
      void video.play().catch(() => undefined)
    },
    isWaiting: () => isPlaying && video.readyState < HTMLMediaElement.HAVE_FUTURE_DATA,
    played() {
      const { played, currentTime } = video
      const lengths = Array.from(
        { length: played.length },
        (_, at) => played.end(at) - played.start(at),
      )
      return { seconds: lengths.reduce((sum, length) => sum + length, 0), toSeconds: currentTime }
    },
  }
}

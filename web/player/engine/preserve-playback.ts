// Preserves play state and speed when an engine sets a new source, which pauses the element and
// resets its speed.

export interface PreservedPlayback {
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
  signal.addEventListener('abort', () => {
    video.defaultPlaybackRate = 1
  })
  return {
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

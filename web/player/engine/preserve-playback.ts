// Preserves play state and speed when an engine sets a new source, which pauses the element and
// resets its speed.

export interface PreservedPlayback {
  /** Continues playback if the visitor had not paused it. Call it after a new source is set. */
  resume(this: void): void
  /** Whether the visitor is waiting: playing, but without data. */
  isWaiting(this: void): boolean
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
  }
}

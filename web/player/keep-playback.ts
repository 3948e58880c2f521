// Keeps what the visitor chose when the element gets another source, which pauses it and takes back its speed.

export interface KeptPlayback {
  /** Call it when the element has its new source. */
  goOn(this: void): void
  /** Whether the visitor wants to see what is not there yet. */
  isAwaited(this: void): boolean
}

/** Remembers until the signal aborts. */
export function keepPlayback(video: HTMLVideoElement, signal: AbortSignal): KeptPlayback {
  // Another source changes the state without these events (HTML, media element load algorithm).
  let isPlaying = !video.paused
  const noteState = ({ type }: Event) => void (isPlaying = type === 'play')
  video.addEventListener('play', noteState, { signal })
  video.addEventListener('pause', noteState, { signal })
  const keepSpeed = () => void (video.defaultPlaybackRate = video.playbackRate)
  video.addEventListener('ratechange', keepSpeed, { signal })
  signal.addEventListener('abort', () => {
    video.defaultPlaybackRate = 1
  })
  return {
    goOn() {
      if (!isPlaying || !video.paused) return
      void video.play().catch(() => undefined) // refused: the controls are there
    },
    isAwaited: () => isPlaying && video.readyState < HTMLMediaElement.HAVE_FUTURE_DATA,
  }
}

// Keeps what the visitor chose when the element gets another source, which pauses it and takes back its speed.

/** Call what it answers when the element has its new source. */
export function keepPlayback(video: HTMLVideoElement, signal: AbortSignal): () => void {
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
  return () => {
    if (!isPlaying || !video.paused) return
    void video.play().catch(() => undefined) // refused: the controls are there
  }
}

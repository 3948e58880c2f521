// Tracks the last position from which the browser could decode: the fallback for one from which it
// cannot.

/** A failing decoder never plays for this long. */
const PROVEN_SECONDS = 1

/** Returns a function for the last seek or start that led to playback; 0 if there is none. */
export function trackDecodableStart(video: HTMLVideoElement, signal: AbortSignal): () => number {
  let startSeconds = 0
  let provenSeconds = 0
  const restart = () => void (startSeconds = video.currentTime)
  // Every source and every seek restarts the decoder.
  video.addEventListener('loadeddata', restart, { signal })
  video.addEventListener('seeked', restart, { signal })
  video.addEventListener(
    'timeupdate',
    () => {
      const hasPlayed = !video.seeking && video.currentTime - startSeconds >= PROVEN_SECONDS
      if (hasPlayed && !video.error) provenSeconds = startSeconds
    },
    { signal },
  )
  return () => provenSeconds
}

// Starts the main video by itself, with its sound, when the page is looked at.

/**
 * Plays as soon as the element has a source, but not in a background tab. Where the browser refuses sound without a
 * gesture the video stays paused under its controls: muting it behind the visitor's back would be worse.
 * Answers the function that gives up waiting.
 */
export function autoplay(video: HTMLVideoElement): () => void {
  const waiting = new AbortController()
  const once = { once: true, signal: waiting.signal }

  function playWhenSeen(): void {
    if (document.hidden) document.addEventListener('visibilitychange', playWhenSeen, once)
    else void video.play().catch(() => undefined) // NotAllowedError: see above. AbortError: the visitor has left.
  }

  // Not earlier: setting a source ends what was asked of the one before.
  video.addEventListener('loadstart', playWhenSeen, once)
  return () => waiting.abort()
}

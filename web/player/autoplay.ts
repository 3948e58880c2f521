// Starts the main video by itself, once nothing stands before it and the page is looked at.

/** `silenced`: it plays without its sound because the browser refused that; the visitor is to be offered it. */
export type Sound = 'heard' | 'silenced'

export interface Autoplay {
  /** Nothing stands before the video any more: it plays as soon as it has a source. */
  release: () => void
  /** Gives up waiting, and gives back the sound that was taken. */
  dispose: () => void
}

/**
 * Waits for a source and for `release`, and in a background tab for the visitor. With sound where the browser lets it,
 * else without; where even that is refused the video stays paused under its controls.
 */
export function createAutoplay(video: HTMLVideoElement, onSound: (sound: Sound) => void): Autoplay {
  const waiting = new AbortController()
  const { signal } = waiting
  let hasSource = video.networkState !== HTMLMediaElement.NETWORK_EMPTY
  let isReleased = false

  function begin(): void {
    if (signal.aborted || !hasSource || !isReleased) return
    if (document.hidden) {
      document.addEventListener('visibilitychange', begin, { once: true, signal })
    } else {
      void playWithSound(video, signal).then((sound) => {
        if (sound === 'silenced') offerSound(video, { signal, onSound })
      })
    }
  }

  // Not earlier: setting a source ends what was asked of the one before.
  video.addEventListener(
    'loadstart',
    () => {
      hasSource = true
      begin()
    },
    { once: true, signal },
  )
  return {
    release() {
      isReleased = true
      begin()
    },
    dispose: () => waiting.abort(),
  }
}

async function playWithSound(video: HTMLVideoElement, signal: AbortSignal): Promise<Sound> {
  const wasMuted = video.muted
  if (await tryToPlay(video)) return 'heard'
  // The visitor has left, or was quicker, or wants no sound: then muting would change nothing.
  if (signal.aborted || !video.paused || wasMuted) return 'heard'
  video.muted = true
  const plays = await tryToPlay(video)
  if (plays && !signal.aborted) return 'silenced'
  video.muted = false
  return 'heard'
}

/** False where the browser refuses. */
async function tryToPlay(video: HTMLVideoElement): Promise<boolean> {
  try {
    await video.play()
    return true
  } catch (error) {
    // AbortError: the visitor has left or paused it. NotSupportedError: the engine repairs it.
    return !(error instanceof DOMException && error.name === 'NotAllowedError')
  }
}

interface SoundOffer {
  signal: AbortSignal
  onSound: (sound: Sound) => void
}

function offerSound(video: HTMLVideoElement, { signal, onSound }: SoundOffer): void {
  const until = new AbortController()
  const take = () => {
    if (video.muted && !signal.aborted) return
    until.abort()
    // Muted for this session alone: the next may find that the visitor has touched the page.
    video.muted = false
    onSound('heard')
  }
  video.addEventListener('volumechange', take, { signal: until.signal })
  signal.addEventListener('abort', take, { signal: until.signal })
  onSound('silenced')
}

// Starts the main video once the pre-roll is over and the page is visible.

/** `muted`: plays without audio because the browser blocked audio; the page offers to unmute. */
export type AutoplayAudio = 'audible' | 'muted'

export interface Autoplay {
  /** The pre-roll is over: plays as soon as there is a source. */
  release: () => void
  /** Stops waiting, and unmutes a video that was muted here. */
  dispose: () => void
}

/**
 * Waits for a source, for `release`, and for the page to be visible. Plays with audio if the
 * browser allows it, else muted; if it blocks that too, the video stays paused with its controls.
 */
export function createAutoplay(
  video: HTMLVideoElement,
  onAudio: (audio: AutoplayAudio) => void,
): Autoplay {
  const waiting = new AbortController()
  const { signal } = waiting
  const { networkState, NETWORK_IDLE, NETWORK_LOADING } = video
  let hasSource = networkState === NETWORK_IDLE || networkState === NETWORK_LOADING
  let isReleased = false

  function start(): void {
    if (signal.aborted || !hasSource || !isReleased) return
    if (document.hidden) {
      document.addEventListener('visibilitychange', start, { once: true, signal })
    } else {
      void playWithAudio(video, signal).then((audio) => {
        if (audio === 'muted') offerUnmute(video, { signal, onAudio })
      })
    }
  }

  function onSource(): void {
    hasSource = true
    start()
  }

  // Not before: setting a source rejects a pending `play()`. Not for a later source: the visitor
  // may have paused.
  if (!hasSource) video.addEventListener('loadstart', onSource, { once: true, signal })
  return {
    release() {
      isReleased = true
      start()
    },
    dispose: () => waiting.abort(),
  }
}

async function playWithAudio(video: HTMLVideoElement, signal: AbortSignal): Promise<AutoplayAudio> {
  const wasMuted = video.muted
  if (await tryToPlay(video)) return 'audible'
  // Muting helps only if the visitor has not left, started it or muted it.
  if (signal.aborted || !video.paused || wasMuted) return 'audible'
  video.muted = true
  const plays = await tryToPlay(video)
  if (plays && !signal.aborted) return 'muted'
  video.muted = false
  return 'audible'
}

/** False if the browser blocks it. */
async function tryToPlay(video: HTMLVideoElement): Promise<boolean> {
  try {
    await video.play()
    return true
  } catch (error) {
    // AbortError: the visitor left or paused. NotSupportedError: the engine recovers from it.
    return !(error instanceof DOMException && error.name === 'NotAllowedError')
  }
}

interface UnmuteOffer {
  signal: AbortSignal
  onAudio: (audio: AutoplayAudio) => void
}

function offerUnmute(video: HTMLVideoElement, { signal, onAudio }: UnmuteOffer): void {
  const done = new AbortController()
  const end = () => {
    if (video.muted && !signal.aborted) return
    done.abort()
    // Muted for this session only: by the next one, a gesture may have allowed audio.
    video.muted = false
    onAudio('audible')
  }
  video.addEventListener('volumechange', end, { signal: done.signal })
  signal.addEventListener('abort', end, { signal: done.signal })
  onAudio('muted')
}

// Sets the playlist as the element's source and lets the browser play it; sets it again after a failure.
import { noteDecodableStart } from './decodable-start.ts'
import { createRecovery } from './recovery.ts'
import type { Failure } from './recovery.ts'

/** Plays until the signal aborts; the element is empty afterwards. */
export function playDirectly(video: HTMLVideoElement, source: string, signal: AbortSignal): void {
  const decodableStart = noteDecodableStart(video, signal)
  const recovery = createRecovery({
    resume: reload,
    reload,
    recoverMedia: reload,
    skip: reload,
    goBack: () => reload(decodableStart()),
    giveUp: () => undefined,
  })

  function reload(startSeconds = video.currentTime): void {
    const { paused } = video
    const takeUp = () => {
      if (startSeconds > 0) video.currentTime = startSeconds
      if (!paused) void video.play().catch(() => undefined) // refused: the controls are there
    }
    video.addEventListener('loadedmetadata', takeUp, { once: true, signal })
    video.src = source
  }

  video.addEventListener(
    'error',
    () => {
      void failureOf(video.error, source, signal).then((failure) => {
        if (!signal.aborted) recovery.failed(failure)
      })
    },
    { signal },
  )
  video.addEventListener('playing', recovery.progressed, { signal })
  signal.addEventListener('abort', () => {
    recovery.dispose()
    // An empty source alone would go on loading the old one.
    video.removeAttribute('src')
    video.load()
  })
  video.src = source
}

async function failureOf(
  error: MediaError | null,
  source: string,
  signal: AbortSignal,
): Promise<Failure> {
  if (error?.code === MediaError.MEDIA_ERR_DECODE) return { kind: 'media' }
  if (error?.code === MediaError.MEDIA_ERR_NETWORK) return { kind: 'network' }
  // The browser says the same of a playlist that is not there and of one that is not there yet: a recording that has
  // only just begun has none for some seconds.
  const isRefused = await isAnsweredForGood(source, signal)
  return isRefused ? { kind: 'network', refused: 'playlist' } : { kind: 'network' }
}

async function isAnsweredForGood(source: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { status } = await fetch(source, { method: 'HEAD', signal })
    return status < 500
  } catch {
    // No network, or the visitor has left.
    return false
  }
}

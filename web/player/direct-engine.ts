// Sets the playlist as the source of the element, for native HLS; sets it again after a failure.
import { trackDecodableStart } from './decodable-start.ts'
import { preservePlayback } from './preserve-playback.ts'
import { createRecovery } from './recovery.ts'
import type { Failure } from './recovery.ts'

/** Plays until the signal aborts; the element is empty afterwards. */
export function playDirectly(video: HTMLVideoElement, source: string, signal: AbortSignal): void {
  const decodableStart = trackDecodableStart(video, signal)
  const playback = preservePlayback(video, signal)
  let resumeSeconds = 0
  const recovery = createRecovery({
    resume: reload,
    reload,
    recoverMedia: reload,
    skip: reload,
    goBack: () => reload(decodableStart()),
    giveUp: () => undefined,
    isWaiting: playback.isWaiting,
  })

  // A source that failed to load has reset the position to 0.
  function reload(startSeconds = video.currentTime || resumeSeconds): void {
    resumeSeconds = startSeconds
    const resume = () => {
      if (resumeSeconds > 0) video.currentTime = resumeSeconds
      playback.resume()
    }
    video.addEventListener('loadedmetadata', resume, { once: true, signal })
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
  video.addEventListener('waiting', recovery.stalled, { signal })
  signal.addEventListener('abort', () => {
    recovery.dispose()
    // `load()` cancels the download, which removing `src` alone does not.
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
  // Browsers report 404 and 503 alike, but a new recording has a playlist after some seconds of
  // 503.
  const isRefused = await isFinalStatus(source, signal)
  return isRefused ? { kind: 'network', refused: 'playlist' } : { kind: 'network' }
}

async function isFinalStatus(source: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { status } = await fetch(source, { method: 'HEAD', signal })
    return status < 500
  } catch {
    // Offline, or the visitor has left.
    return false
  }
}

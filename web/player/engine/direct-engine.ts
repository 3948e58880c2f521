// Sets the playlist as the source of the element, for native HLS; sets it again after a failure.
import { trackDecodableStart } from './decodable-start.ts'
import { ORIGINAL } from '../playback/playlist.ts'
import type { Playlist } from '../playback/playlist.ts'
import { refusalOf } from '../playback/playback-state.ts'
import type { PlaybackEvent } from '../playback/playback-state.ts'
import { measurePlayback } from './measure-playback.ts'
import { preservePlayback } from './preserve-playback.ts'
import { createRecovery } from './recovery.ts'
import type { Failure } from './recovery.ts'

interface DirectEngineOptions {
  signal: AbortSignal
  report(this: void, event: PlaybackEvent): void
}

/** An element that plays has moved after this long. */
const FROZEN_MS = 5000

/** Plays until the signal aborts; the element is empty afterwards. */
export function playDirectly(
  video: HTMLVideoElement,
  playlist: Playlist,
  { signal, report }: DirectEngineOptions,
): void {
  const decodableStart = trackDecodableStart(video, signal)
  const onFailure = measurePlayback(video, signal)
  const playback = preservePlayback(video, signal)
  const recovery = createRecovery({
    ...playback,
    resume: reload,
    reload,
    recoverMedia: reload,
    skip: reload,
    goBack: () => reload(decodableStart()),
    giveUp: () => report({ type: 'gave up' }),
    onFailure,
  })

  function reload(startSeconds = playback.position()): void {
    playback.moveTo(startSeconds)
    // The same function: without metadata, a retry adds no second listener.
    video.addEventListener('loadedmetadata', resume, { once: true, signal })
    video.src = playlist.url
  }

  function resume(): void {
    const seconds = playback.position()
    if (seconds > 0) video.currentTime = seconds
    playback.resume()
  }

  video.addEventListener(
    'error',
    () => {
      void failureOf(video.error, playlist.url, signal).then(({ status, ...failure }) => {
        if (signal.aborted) return
        if (playlist.mayLackQuality(status)) return playlist.select(ORIGINAL)
        const refusal = refusalOf(status)
        if (refusal) report({ type: 'refused', refusal })
        if (failure.kind === 'network' && !failure.refused) report({ type: 'unreachable' })
        recovery.failed(failure)
      })
    },
    { signal },
  )
  video.addEventListener('playing', recovery.progressed, { signal })
  video.addEventListener('waiting', recovery.stalled, { signal })
  const watch = setInterval(watchPosition(video, recovery.failed), FROZEN_MS)
  signal.addEventListener('abort', () => {
    clearInterval(watch)
    recovery.dispose()
    // `load()` cancels the download, which removing `src` alone does not.
    video.removeAttribute('src')
    video.load()
  })
  playlist.onChange = () => reload()
  video.src = playlist.url
}

/**
 * Reports that the element has all it needs to play, and has not moved since the call before.
 * WebKitGTK can stop without an event; a new source plays.
 */
function watchPosition(video: HTMLVideoElement, failed: (failure: Failure) => void): () => void {
  let seconds: number | undefined
  return () => {
    const { currentTime, paused, ended, seeking, readyState } = video
    const isPlaying = !paused && !ended && !seeking && readyState > video.HAVE_CURRENT_DATA
    if (isPlaying && currentTime === seconds) failed({ kind: 'media' })
    seconds = isPlaying ? currentTime : undefined
  }
}

/** `status` is that of the playlist, if it may be the reason and the server is reachable. */
async function failureOf(
  error: MediaError | null,
  source: string,
  signal: AbortSignal,
): Promise<Failure & { status?: number }> {
  if (error?.code === MediaError.MEDIA_ERR_DECODE) return { kind: 'media' }
  if (error?.code === MediaError.MEDIA_ERR_NETWORK) return { kind: 'network' }
  const status = await fetchStatus(source, signal)
  if (status === undefined) return { kind: 'network' }
  // Browsers report 404 and 503 alike, but a new recording has a playlist after some seconds of
  // 503.
  return status < 500 ? { kind: 'network', refused: 'playlist', status } : { kind: 'network' }
}

async function fetchStatus(source: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    const { status } = await fetch(source, { method: 'HEAD', signal })
    return status
  } catch {
    // Offline, or the visitor has left.
    return undefined
  }
}

// Delays work until a video has shown its first frame, so that nothing competes with it.

/** The first frame may never come, and hidden pages get no frame callbacks. */
const TIMEOUT_MS = 1000

/**
 * Calls `then` once: on the first frame, on an error, or after a second; not after the signal
 * aborts.
 */
export function afterFirstFrame(
  video: HTMLVideoElement,
  signal: AbortSignal,
  then: () => void,
): void {
  const done = new AbortController()
  const end = (): void => {
    clearTimeout(timer)
    if (done.signal.aborted || signal.aborted) return
    done.abort()
    then()
  }
  const timer = setTimeout(end, TIMEOUT_MS)
  video.addEventListener('error', end, { signal: done.signal })
  // Firefox has it since 2024.
  if ('requestVideoFrameCallback' in video) video.requestVideoFrameCallback(end)
  else (video as HTMLVideoElement).addEventListener('loadeddata', end, { signal: done.signal })
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    done.abort()
  })
}

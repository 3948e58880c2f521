// When a video has shown its first picture: until then the machine has nothing better to do.

/** Longer than this nothing else waits for it: it may never come, and where a page is hidden nobody tells of pictures. */
const PICTURE_WITHIN_MS = 1000

/** Calls it once, when the first picture was shown, cannot be shown, or is long in coming; never when the signal has aborted. */
export function afterFirstPicture(
  video: HTMLVideoElement,
  signal: AbortSignal,
  then: () => void,
): void {
  const over = new AbortController()
  const end = (): void => {
    clearTimeout(timer)
    if (over.signal.aborted || signal.aborted) return
    over.abort()
    then()
  }
  const timer = setTimeout(end, PICTURE_WITHIN_MS)
  video.addEventListener('error', end, { signal: over.signal })
  // Firefox has it since 2024.
  if ('requestVideoFrameCallback' in video) video.requestVideoFrameCallback(end)
  else (video as HTMLVideoElement).addEventListener('loadeddata', end, { signal: over.signal })
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    over.abort()
  })
}

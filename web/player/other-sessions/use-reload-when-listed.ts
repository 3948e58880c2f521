// A link may be opened before its recording is listed, which takes seconds.
import { useEffect } from 'react'

/** The pauses before each check; a session that is unknown after them stays so. */
const PAUSES_MS = [5000, 10_000, 20_000, 40_000]

/** Reloads the page once the session's playlist can be loaded. */
export function useReloadWhenListed(playlistUrl: string): void {
  useEffect(() => {
    const left = new AbortController()
    // Without a connection, the session is as unavailable as before.
    waitUntilListed(playlistUrl, left.signal).then(
      (isListed) => isListed && location.reload(),
      () => undefined,
    )
    return () => left.abort()
  }, [playlistUrl])
}

/** Rejects on abort. */
async function waitUntilListed(url: string, signal: AbortSignal): Promise<boolean> {
  for (const pauseMs of PAUSES_MS) {
    await pause(pauseMs, signal)
    const { ok, status } = await fetch(url, { method: 'HEAD', signal })
    if (ok) return true
    // Any other status is final.
    if (status !== 404 && status !== 503) return false
  }
  return false
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new DOMException('left', 'AbortError'))
    })
  })
}

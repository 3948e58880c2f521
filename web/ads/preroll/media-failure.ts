// Which VAST error code describes why an ad's video does not play.
import type { SentErrorCode } from './vast-error.ts'
import { withTimeout } from '../../../shared/with-timeout.ts'

/** Codes of MediaError. */
const NETWORK = 2
const DECODE = 3
/** For finding out whether the file exists. The visitor does not wait meanwhile. */
const PROBE_TIMEOUT_MS = 2000

/** The code of a video that does not start or continue in time. */
export function timeoutCode(video: HTMLVideoElement, state: 'late' | 'stalled'): SentErrorCode {
  if (video.readyState < HTMLMediaElement.HAVE_FUTURE_DATA) return 402
  return state === 'late' ? 304 : 405
}

/** The code of a video that reports an error. Never rejects. */
export async function mediaErrorCode(
  { error }: HTMLVideoElement,
  url: string,
  signal: AbortSignal,
): Promise<SentErrorCode> {
  if (error?.code === NETWORK) return 402
  if (error?.code === DECODE) return 405
  return (await isMissing(url, signal)) ? 401 : 405
}

/**
 * The element reports a missing file and an unknown format as one error (HTML, 4.8.11.5), so the
 * file is requested once more. The status is known only if CORS allows it.
 */
async function isMissing(url: string, signal: AbortSignal): Promise<boolean> {
  const answered = new AbortController()
  try {
    return await withTimeout(
      async (limited) => {
        const both = AbortSignal.any([limited, answered.signal])
        const options: RequestInit = { credentials: 'omit', cache: 'no-store', signal: both }
        return (await fetch(url, options)).status >= 400
      },
      { timeoutMs: PROBE_TIMEOUT_MS, signal },
    )
  } catch {
    return false
  } finally {
    // Only the status is needed, not the body.
    answered.abort()
  }
}

// Finds an ad and shows it. What only a page with a pre-roll needs hangs on this file, which is
// loaded for it.
import { loadVast } from './load-vast.ts'
import { runPreroll } from './run-preroll.ts'
import type { PrerollPlace } from './run-preroll.ts'
import { sendBeacon, sendError } from './tracking.ts'
import { requestMacros } from './macros.ts'

export interface ShowOptions extends PrerollPlace {
  /** For finding the ad, not for showing it. */
  timeoutMs: number
  signal: AbortSignal
}

/**
 * Resolves when the pre-roll is over, or at once when there is none. Rejects where the signal
 * aborts before.
 */
export async function showPreroll(
  vastUrl: string,
  { stage, covered, timeoutMs, signal }: ShowOptions,
): Promise<void> {
  const canPlay = (type: string) => covered.canPlayType(type) !== ''
  const outcome = await loadVast(vastUrl, { signal, timeoutMs, canPlay })
  signal.throwIfAborted()
  if (outcome.status === 'found') return runPreroll(outcome.ad, { stage, covered }, signal)
  sendError(outcome.errorUrls, outcome.code, (url, values) =>
    sendBeacon(url, { ...requestMacros(), ...values }),
  )
}

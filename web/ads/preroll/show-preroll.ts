// Loads an ad and shows it. The entry of the lazily loaded pre-roll code.
import { openConsent } from './consent.ts'
import { loadVast } from './load-vast.ts'
import { runPreroll } from './run-preroll.ts'
import type { PrerollTarget } from './run-preroll.ts'
import { sendBeacon, sendError } from './tracking.ts'
import { requestMacros } from './macros.ts'

export interface ShowOptions extends PrerollTarget {
  /** For loading the ad, not for showing it. */
  timeoutMs: number
  signal: AbortSignal
}

/** Resolves when the pre-roll is over, or if there is none. Rejects if the signal aborts first. */
export async function showPreroll(
  vastUrl: string,
  { stage, covered, timeoutMs, signal }: ShowOptions,
): Promise<void> {
  const canPlay = (type: string) => covered.canPlayType(type) !== ''
  const consent = openConsent(signal)
  const outcome = await loadVast(vastUrl, { consent, signal, timeoutMs, canPlay })
  signal.throwIfAborted()
  if (outcome.status === 'found') {
    return runPreroll(outcome.ad, { stage, covered, consent, signal })
  }
  sendError(outcome.errorUrls, outcome.code, (url, values) =>
    sendBeacon(url, { ...requestMacros(), ...consent.macrosFor(url), ...values }),
  )
}

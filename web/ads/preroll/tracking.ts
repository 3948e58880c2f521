// Sends the tracking events of an ad, each once (VAST 4.3, 3.14).
import type { QualityEvent } from '../../../shared/contract.ts'
import type { PrerollAd } from './load-vast.ts'
import { fillMacros } from './macros.ts'
import type { MacroValues } from './macros.ts'
import type { SentErrorCode } from './vast-error.ts'
import type { TrackingEvent } from './vast.ts'

/** Playback position and duration of the ad. */
export interface AdPosition {
  seconds: number
  durationSeconds: number
}

export interface Tracking {
  /**
   * The first frame is visible: impressions, `creativeView` and `start`, and which parts of the ad
   * are not run.
   */
  started: () => void
  /** Quartiles and `progress` events up to this position. */
  progressed: (position: AdPosition) => void
  completed: (durationSeconds: number) => void
  /** `skip` if the ad is skippable, else `closeLinear`. */
  closed: () => void
  paused: () => void
  resumed: () => void
  clicked: () => void
  failed: (code: SentErrorCode) => void
}

type TrackedAd = Pick<
  PrerollAd,
  | 'impressionUrls'
  | 'tracking'
  | 'clickTrackingUrls'
  | 'errorUrls'
  | 'unverifiedUrls'
  | 'isSkippable'
  | 'isInteractive'
>

const QUARTILES: [event: string, share: number][] = [
  ['firstQuartile', 0.25],
  ['midpoint', 0.5],
  ['thirdQuartile', 0.75],
]

/** `send` receives each URL with macro values beyond the usual ones. */
export function createTracking(
  ad: TrackedAd,
  send: (url: string, values: MacroValues) => void,
): Tracking {
  const sent = new Set<unknown>()

  function once(key: unknown, act: () => void): void {
    if (sent.has(key)) return
    sent.add(key)
    act()
  }
  function sendAll(urls: string[], values: MacroValues = {}): void {
    for (const url of urls) send(url, values)
  }
  function event(name: string): void {
    const named = ad.tracking.filter((tracking) => tracking.event === name)
    once(name, () => sendAll(named.map(({ url }) => url)))
  }
  function progressed(position: AdPosition): void {
    for (const [name, share] of QUARTILES) {
      if (hasReached({ share }, position)) event(name)
    }
    for (const tracking of ad.tracking) {
      if (tracking.event !== 'progress' || !hasReached(tracking.offset, position)) continue
      once(tracking, () => sendAll([tracking.url]))
    }
  }
  function reportParts(): void {
    // VAST 4.3, 3.9.3: the video plays without its script.
    if (ad.isInteractive) sendAll(ad.errorUrls, { ERRORCODE: '409' })
    // VAST 4.3, 3.17.4: 2 is `not supported`.
    sendAll(ad.unverifiedUrls, { REASON: '2' })
  }

  return {
    started() {
      once('impression', () => sendAll(ad.impressionUrls))
      event('creativeView')
      event('start')
      once('parts', reportParts)
    },
    progressed,
    completed(durationSeconds) {
      // The last `timeupdate` may precede the last quartile.
      progressed({ seconds: durationSeconds, durationSeconds })
      event('complete')
    },
    closed: () => event(ad.isSkippable ? 'skip' : 'closeLinear'),
    paused: () => event('pause'),
    resumed: () => event('resume'),
    clicked: () => once('click', () => sendAll(ad.clickTrackingUrls)),
    failed: (code) => once('error', () => sendError(ad.errorUrls, code, send)),
  }
}

/** Sends an error code, also without an ad; to the site's own collector as well. */
export function sendError(
  errorUrls: string[],
  code: SentErrorCode,
  send: (url: string, values: MacroValues) => void,
): void {
  const detail: QualityEvent = { name: 'vast_error', code }
  window.dispatchEvent(new CustomEvent('quality', { detail }))
  for (const url of errorUrls) send(url, { ERRORCODE: String(code) })
}

/** Fire and forget. Images need no CORS, and a policy for the ad's images covers these requests. */
export function sendBeacon(url: string, values: MacroValues): void {
  new Image(1, 1).src = fillMacros(url, values)
}

function hasReached(offset: TrackingEvent['offset'], position: AdPosition): boolean {
  const { seconds, durationSeconds } = position
  if (offset === undefined) return false
  if ('seconds' in offset) return seconds >= offset.seconds
  return durationSeconds > 0 && seconds >= offset.share * durationSeconds
}

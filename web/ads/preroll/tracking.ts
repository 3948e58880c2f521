// Tells those who pay for an ad what became of it: each event once (VAST 4.3, 3.14).
import type { PrerollAd } from './load-vast.ts'
import { fillMacros } from './macros.ts'
import type { MacroValues } from './macros.ts'
import type { TrackingEvent, VastErrorCode } from './vast.ts'

/** Where the ad is: seconds played, and in all. */
export interface AdPosition {
  seconds: number
  durationSeconds: number
}

export interface Tracking {
  /** The first frame is to be seen: impressions, `creativeView` and `start`. */
  started: () => void
  /** Quartiles and `progress` up to here. */
  progressed: (position: AdPosition) => void
  completed: (durationSeconds: number) => void
  /** `skip` where the ad may be skipped, else `closeLinear`. */
  closed: () => void
  paused: () => void
  resumed: () => void
  clicked: () => void
  failed: (code: VastErrorCode) => void
}

type Followed = Pick<
  PrerollAd,
  'impressionUrls' | 'tracking' | 'clickTrackingUrls' | 'errorUrls' | 'isSkippable'
>

const QUARTILES: [event: string, share: number][] = [
  ['firstQuartile', 0.25],
  ['midpoint', 0.5],
  ['thirdQuartile', 0.75],
]

/** `send` gets each address with what to fill in beyond the usual macros. */
export function createTracking(
  ad: Followed,
  send: (url: string, values: MacroValues) => void,
): Tracking {
  const told = new Set<unknown>()

  function once(what: unknown, tell: () => void): void {
    if (told.has(what)) return
    told.add(what)
    tell()
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
      if (hasPassed({ share }, position)) event(name)
    }
    for (const tracking of ad.tracking) {
      if (tracking.event !== 'progress' || !hasPassed(tracking.offset, position)) continue
      once(tracking, () => sendAll([tracking.url]))
    }
  }

  return {
    started() {
      once('impression', () => sendAll(ad.impressionUrls))
      event('creativeView')
      event('start')
    },
    progressed,
    completed(durationSeconds) {
      // The last step of the clock may lie before the last quartile.
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

/** Tells of a failure, also where there never was an ad. */
export function sendError(
  errorUrls: string[],
  code: VastErrorCode,
  send: (url: string, values: MacroValues) => void,
): void {
  for (const url of errorUrls) send(url, { ERRORCODE: String(code) })
}

/**
 * Sends and forgets. An image asks nobody for permission, and a policy that lets the ad's pictures
 * through lets this through.
 */
export function sendBeacon(url: string, values: MacroValues): void {
  new Image(1, 1).src = fillMacros(url, values)
}

function hasPassed(offset: TrackingEvent['offset'], position: AdPosition): boolean {
  const { seconds, durationSeconds } = position
  if (offset === undefined) return false
  if ('seconds' in offset) return seconds >= offset.seconds
  return durationSeconds > 0 && seconds >= offset.share * durationSeconds
}

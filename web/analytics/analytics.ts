// Takes what visitors do, and hands it on once it is known to whom. Small: the targets are loaded only where there are any.
import type { AnalyticsConfig } from '../../shared/contract.ts'
import type { Sighting, Target, VisitorEvent } from './visitor-event.ts'

export interface Analytics {
  /** Notes an event of the present page. Never throws, never waits. */
  track(this: void, event: VisitorEvent): void
}

export interface AnalyticsOptions {
  /** Analytics is off where it rejects. */
  config: Promise<AnalyticsConfig>
  /** Address of the first-party collector. */
  activityUrl: string
}

/** More than anybody does before the configuration is there. */
const MAX_WAITING = 200

/** Nothing that happens before `config` resolves is lost, but for what exceeds a bound. */
export function createAnalytics({ config, activityUrl }: AnalyticsOptions): Analytics {
  const waiting: Sighting[] = []
  let send: Target = (sighting) => {
    if (waiting.length < MAX_WAITING) waiting.push(sighting)
  }
  let page = { url: '', referrer: document.referrer }

  void config
    .then((known) => startTargets(known, activityUrl))
    // Without its code there is no analytics, and the page goes on.
    .catch((): Target => () => undefined)
    .then((target) => {
      send = target
      for (const sighting of waiting.splice(0)) target(sighting)
    })

  return {
    track(event) {
      const url = window.location.href
      if (event.name === 'page_view') {
        page = { url, referrer: page.url === '' ? page.referrer : page.url }
      }
      send({ event, url, referrer: page.referrer })
    },
  }
}

async function startTargets(config: AnalyticsConfig, activityUrl: string): Promise<Target> {
  const { firstParty, ga4, plausible, umami } = config
  if (!firstParty && !ga4 && !plausible && !umami) return () => undefined
  const { createTargets } = await import('./create-targets.ts')
  return createTargets(config, activityUrl)
}

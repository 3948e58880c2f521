// Queues events until the configuration is loaded, then sends them to the configured targets. The
// code of the targets is loaded only if there are any.
import type { AnalyticsConfig } from '../../shared/contract.ts'
import type { TrackedEvent, Target, VisitorEvent } from './visitor-event.ts'

export interface Analytics {
  /** Records an event of the current page. Never throws or blocks. */
  track(this: void, event: VisitorEvent): void
}

export interface AnalyticsOptions {
  /** Analytics is off if it rejects. */
  config: Promise<AnalyticsConfig>
  /** URL of the first-party collector. */
  activityUrl: string
}

/** Far more than a visitor does before the configuration is loaded. */
const MAX_QUEUED = 200

/** Events before `config` resolves are queued up to a limit. */
export function createAnalytics({ config, activityUrl }: AnalyticsOptions): Analytics {
  const queue: TrackedEvent[] = []
  let send: Target = (tracked) => {
    if (queue.length < MAX_QUEUED) queue.push(tracked)
  }
  let page = { url: '', referrer: document.referrer }

  void config
    .then((known) => startTargets(known, activityUrl))
    // If the code cannot be loaded, analytics is off.
    .catch((): Target => () => undefined)
    .then((target) => {
      send = target
      for (const tracked of queue.splice(0)) target(tracked)
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

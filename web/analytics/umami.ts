// Umami, with explicit page views.
import type { AnalyticsConfig } from '../../shared/contract.ts'
import { eventProperties } from './event-properties.ts'
import { loadScript } from './load-script.ts'
import type { TrackedEvent, Target } from './visitor-event.ts'

type Payload = Record<string, unknown>

declare global {
  interface Window {
    umami?: { track: (build: (payload: Payload) => Payload) => unknown }
  }
}

/** Far more than a visitor does while the script loads. */
const MAX_QUEUED = 200

export function createUmami({
  scriptUrl,
  websiteId,
}: NonNullable<AnalyticsConfig['umami']>): Target {
  const queue: TrackedEvent[] = []
  // Unlike the other scripts, Umami's processes no queue.
  let send: Target = (tracked) => {
    if (queue.length < MAX_QUEUED) queue.push(tracked)
  }
  const start = (target: Target) => {
    send = target
    for (const tracked of queue.splice(0)) target(tracked)
  }
  const attributes = { 'data-website-id': websiteId, 'data-auto-track': 'false' }
  loadScript(scriptUrl, attributes)
    .then(() => start(track))
    .catch(() => start(() => undefined))
  return (tracked) => send(tracked)
}

/** A payload without a name is a page view. */
function track({ event, url, referrer }: TrackedEvent): void {
  const details =
    event.name === 'page_view'
      ? { title: event.title }
      : { name: event.name, data: eventProperties(event) }
  window.umami?.track((payload) => ({ ...payload, url, referrer, ...details }))
}

// Umami, with its automatic page views switched off.
import type { AnalyticsConfig } from '../../shared/contract.ts'
import { eventProperties } from './event-properties.ts'
import { loadScript } from './load-script.ts'
import type { Sighting, Target } from './visitor-event.ts'

type Payload = Record<string, unknown>

declare global {
  interface Window {
    umami?: { track: (build: (payload: Payload) => Payload) => unknown }
  }
}

/** More than anybody does while the script loads. */
const MAX_WAITING = 200

export function createUmami({
  scriptUrl,
  websiteId,
}: NonNullable<AnalyticsConfig['umami']>): Target {
  const waiting: Sighting[] = []
  // Unlike others, its script takes nothing from a queue.
  let send: Target = (sighting) => {
    if (waiting.length < MAX_WAITING) waiting.push(sighting)
  }
  const begin = (target: Target) => {
    send = target
    for (const sighting of waiting.splice(0)) target(sighting)
  }
  const attributes = { 'data-website-id': websiteId, 'data-auto-track': 'false' }
  loadScript(scriptUrl, attributes)
    .then(() => begin(track))
    .catch(() => begin(() => undefined))
  return (sighting) => send(sighting)
}

/** A payload without a name is a page view. */
function track({ event, url, referrer }: Sighting): void {
  const particulars =
    event.name === 'page_view'
      ? { title: event.title }
      : { name: event.name, data: eventProperties(event) }
  window.umami?.track((payload) => ({ ...payload, url, referrer, ...particulars }))
}

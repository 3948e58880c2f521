// Plausible, through its `manual` script, with explicit page views.
import type { AnalyticsConfig } from '../../shared/contract.ts'
import { eventProperties } from './event-properties.ts'
import { loadScript } from './load-script.ts'
import type { Target } from './visitor-event.ts'

interface Plausible {
  (name: string, options: { u: string; props?: Record<string, string | number> }): void
  /** Calls before the script has loaded; the script processes them. */
  q?: unknown[]
}

declare global {
  interface Window {
    plausible?: Plausible
  }
}

export function createPlausible({
  scriptUrl,
  domain,
}: NonNullable<AnalyticsConfig['plausible']>): Target {
  const queue: Plausible = function () {
    queue.q ??= []
    queue.q.push(arguments)
  }
  window.plausible ??= queue
  let isBlocked = false
  loadScript(scriptUrl, { 'data-domain': domain }).catch(() => {
    isBlocked = true
  })
  return ({ event, url: u }) => {
    if (isBlocked) return
    if (event.name === 'page_view') window.plausible?.('pageview', { u })
    else window.plausible?.(event.name, { u, props: eventProperties(event) })
  }
}

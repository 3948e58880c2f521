// The site's own collector: events in small batches, also while the visitor leaves. No cookie, no id.
import type { ActivityEvent } from '../../shared/contract.ts'
import { ACTIVITY_BODY_BYTES, EVENTS_PER_REQUEST } from '../../shared/limits.ts'
import { sessionKey } from '../../shared/paths.ts'
import type { ListedItem, Target, VisitorEvent } from './visitor-event.ts'

/** What happens together is sent together. */
const BATCH_MS = 250

/** `url`: address of the collector, on this origin or another. */
export function createFirstParty(url: string): Target {
  const batch: string[] = []
  let batchBytes = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (batch.length > 0) post(url, `[${batch.splice(0).join(',')}]`)
    batchBytes = 0
  }

  function add(text: string): void {
    // A comma goes with each, and two brackets around all.
    const bytes = byteLength(text) + 1
    if (batchBytes + bytes > ACTIVITY_BODY_BYTES - 2 || batch.length >= EVENTS_PER_REQUEST) flush()
    batch.push(text)
    batchBytes += bytes
  }

  window.addEventListener('pagehide', flush)
  // Of a phone's tab that is closed in the background there is no other sign.
  document.addEventListener('visibilitychange', () => document.hidden && flush())
  return ({ event }) => {
    for (const text of textsOf(toActivityEvent(event))) add(text)
    timer ??= setTimeout(flush, BATCH_MS)
  }
}

function toActivityEvent(event: VisitorEvent): ActivityEvent {
  switch (event.name) {
    case 'page_view':
      return event
    case 'view_item_list':
      return { ...event, items: event.items.map(nameOf) }
    case 'select_item':
      return { ...event, item: nameOf(event.item) }
    case 'begin_video':
      return { name: event.name, ...event.session }
  }
}

function nameOf({ streamer, date, sessionId }: ListedItem): string {
  if (date === undefined || sessionId === undefined) return streamer
  return sessionKey({ streamer, date, sessionId })
}

/** The event as JSON, a list of long names in as many pieces as it takes; one that fits no request is left out. */
function textsOf(event: ActivityEvent): string[] {
  const text = JSON.stringify(event)
  if (byteLength(text) < ACTIVITY_BODY_BYTES / 2) return [text]
  if (event.name !== 'view_item_list' || event.items.length < 2) return []
  const half = Math.ceil(event.items.length / 2)
  return [event.items.slice(0, half), event.items.slice(half)].flatMap((items) =>
    textsOf({ ...event, items }),
  )
}

/** A text as body makes it text/plain, which needs no preflight where the API is on another origin. */
function post(url: string, body: string): void {
  if (sendBeacon(url, body)) return
  const request: RequestInit = { method: 'POST', body, credentials: 'omit' }
  void fetch(url, { ...request, keepalive: true })
    // Browsers let 64 KiB outlive the page; what is more goes as any other request.
    .catch(() => fetch(url, request))
    // A visitor's blocker or a lost network: then this is not counted.
    .catch(() => undefined)
}

function sendBeacon(url: string, body: string): boolean {
  try {
    return navigator.sendBeacon(url, body)
  } catch {
    return false // Taken away by a privacy extension.
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

// The first-party collector: sends events in small batches, also on page unload. No cookie, no id.
import type { ActivityEvent, QualityEvent } from '../../shared/contract.ts'
import { ACTIVITY_BODY_BYTES, EVENTS_PER_REQUEST } from '../../shared/limits.ts'
import { sessionKey } from '../../shared/paths.ts'
import type { ListedItem, Target, VisitorEvent } from './visitor-event.ts'

/** Events within this time share one request. */
const BATCH_MS = 250

/** `url` of the collector, on this origin or another. */
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
    // One comma per event; the two brackets are subtracted below.
    const bytes = byteLength(text) + 1
    if (batchBytes + bytes > ACTIVITY_BODY_BYTES - 2 || batch.length >= EVENTS_PER_REQUEST) flush()
    batch.push(text)
    batchBytes += bytes
  }

  window.addEventListener('quality', ({ detail }) => {
    add(JSON.stringify(detail))
    // The page may be unloading.
    flush()
  })
  window.addEventListener('pagehide', flush)
  // The only event before a phone closes a tab in the background.
  document.addEventListener('visibilitychange', () => document.hidden && flush())
  return ({ event }) => {
    for (const text of toJsonParts(toActivityEvent(event))) add(text)
    timer ??= setTimeout(flush, BATCH_MS)
  }
}

function toActivityEvent(event: VisitorEvent): ActivityEvent {
  switch (event.name) {
    case 'page_view':
      return event
    case 'view_item_list':
      return { ...event, items: event.items.map(toItemName) }
    case 'select_item':
      return { ...event, item: toItemName(event.item) }
    case 'begin_video':
      return { name: event.name, ...event.session }
  }
}

function toItemName({ streamer, date, sessionId }: ListedItem): string {
  if (date === undefined || sessionId === undefined) return streamer
  return sessionKey({ streamer, date, sessionId })
}

/**
 * The event as JSON. A long list is split to fit into requests; an item that is too long is
 * dropped.
 */
function toJsonParts(event: ActivityEvent): string[] {
  const text = JSON.stringify(event)
  if (byteLength(text) < ACTIVITY_BODY_BYTES / 2) return [text]
  if (event.name !== 'view_item_list' || event.items.length < 2) return []
  const half = Math.ceil(event.items.length / 2)
  return [event.items.slice(0, half), event.items.slice(half)].flatMap((items) =>
    toJsonParts({ ...event, items }),
  )
}

/** A string body is sent as text/plain, which needs no CORS preflight. */
function post(url: string, body: string): void {
  if (sendBeacon(url, body)) return
  const request: RequestInit = { method: 'POST', body, credentials: 'omit' }
  void fetch(url, { ...request, keepalive: true })
    // Browsers limit all `keepalive` bodies together to 64 KiB; retry without it.
    .catch(() => fetch(url, request))
    // Blocked or offline: these events are lost.
    .catch(() => undefined)
}

function sendBeacon(url: string, body: string): boolean {
  try {
    return navigator.sendBeacon(url, body)
  } catch {
    return false // Removed by a privacy extension.
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

declare global {
  interface WindowEventMap {
    /** Of the player and the pre-roll, lazy chunks that share no code. */
    quality: CustomEvent<QualityEvent>
  }
}

// Maps an event to what is counted: its kind and subject, nothing about the visitor. Pure.
import type { CountedEvent } from '../../../shared/contract.ts'
import { parseNames, parseSessionKey, withoutTrailingSlashes } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'

/** Subject of an event: none, a streamer, or a session. */
export type Subject = Partial<SessionReference>

/** One counter. Names are NFC; '' for fields that do not apply. */
export interface ActivityCount {
  name: CountedEvent['name']
  /** Page views: the page. Lists: the list. Ads: the creative. */
  label: string
  /** Zone of an ad. */
  zone: string
  streamer: string
  date: string
  sessionId: string
  /** Increment: for lists the number of items shown, else 1. */
  amount: number
}

/** Whether the library has this streamer or session. Names are NFC. */
export type IsKnownSubject = (subject: { streamer: string } & Subject) => boolean

/**
 * The counter of an event; undefined if its subject is not in the library. Views of unknown pages
 * count as `other`, so that stored names are always names of the library.
 */
export function countOf(
  event: CountedEvent,
  isKnownSubject: IsKnownSubject,
): ActivityCount | undefined {
  if ('creative' in event) {
    const ad = build(event.name, { label: event.creative, subject: {} })
    return { ...ad, zone: event.zone }
  }
  switch (event.name) {
    case 'page_view': {
      const page = pageOf(event.path)
      const known = page !== undefined && isKnown(page.subject, isKnownSubject)
      return known ? build(event.name, page) : build(event.name, { label: 'other', subject: {} })
    }
    case 'view_item_list': {
      const list = build(event.name, { label: event.list, subject: {} })
      return { ...list, amount: event.items.length }
    }
    case 'select_item': {
      const subject = event.list === 'streamers' ? { streamer: event.item } : sessionOf(event.item)
      if (subject === undefined || !isKnown(subject, isKnownSubject)) return undefined
      return build(event.name, { label: event.list, subject })
    }
    case 'begin_video': {
      const { streamer, date, sessionId } = event
      const subject = { streamer, date, sessionId }
      return isKnown(subject, isKnownSubject)
        ? build(event.name, { label: '', subject })
        : undefined
    }
  }
}

interface Labelled {
  label: string
  subject: Subject
}

function build(name: ActivityCount['name'], { label, subject }: Labelled): ActivityCount {
  const { streamer = '', date = '', sessionId = '' } = normalized(subject)
  return { name, label, zone: '', streamer, date, sessionId, amount: 1 }
}

/** The page route and subject of a path. */
function pageOf(path: string): Labelled | undefined {
  const [, route, ...names] = parseNames(withoutTrailingSlashes(path)) ?? []
  if (path === '/') return { label: 'streamers', subject: {} }
  const [streamer, date, sessionId] = names
  if (!streamer) return undefined
  if (route === 's' && names.length === 1) return { label: 'sessions', subject: { streamer } }
  if (route !== 'p' || !date || !sessionId || names.length > 3) return undefined
  return { label: 'player', subject: { streamer, date, sessionId } }
}

function sessionOf(item: string): Subject | undefined {
  return parseSessionKey(item)
}

function isKnown(subject: Subject, isKnownSubject: IsKnownSubject): boolean {
  const { streamer, ...rest } = normalized(subject)
  return streamer === undefined || isKnownSubject({ streamer, ...rest })
}

function normalized(subject: Subject): Subject {
  return Object.fromEntries(
    Object.entries(subject).map(([key, name]) => [key, name.normalize('NFC')]),
  )
}

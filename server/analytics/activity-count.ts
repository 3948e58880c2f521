// What is counted of an event: its kind and what it was about, nothing of the visitor. Pure.
import type { ActivityEvent } from '../../shared/contract.ts'
import { parseNames, parseSessionKey } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'

/** What an event was about: nothing, a streamer, or a session. */
export type Subject = Partial<SessionReference>

/** One thing to count. Names are NFC; '' stands for what does not apply. */
export interface ActivityCount {
  name: ActivityEvent['name']
  /** Page views: which page. Lists: which list. Ads: which creative. */
  label: string
  /** Of an ad. */
  zone: string
  streamer: string
  date: string
  sessionId: string
  /** How many: of lists the items shown, else 1. */
  amount: number
}

/** Whether the library has such a streamer or session. Names are NFC. */
export type IsKnownSubject = (subject: { streamer: string } & Subject) => boolean

/**
 * What to count of an event; undefined where it is about something that the library does not have. A view of a page
 * that does not exist counts as one of `other`, so that names can only be those of the library.
 */
export function countOf(event: ActivityEvent, knows: IsKnownSubject): ActivityCount | undefined {
  if ('creative' in event) {
    const ad = build(event.name, { label: event.creative, subject: {} })
    return { ...ad, zone: event.zone }
  }
  switch (event.name) {
    case 'page_view': {
      const page = pageOf(event.path)
      const known = page !== undefined && isKnown(page.subject, knows)
      return known ? build(event.name, page) : build(event.name, { label: 'other', subject: {} })
    }
    case 'view_item_list': {
      const list = build(event.name, { label: event.list, subject: {} })
      return { ...list, amount: event.items.length }
    }
    case 'select_item': {
      const subject = event.list === 'streamers' ? { streamer: event.item } : sessionOf(event.item)
      if (subject === undefined || !isKnown(subject, knows)) return undefined
      return build(event.name, { label: event.list, subject })
    }
    case 'begin_video': {
      const { streamer, date, sessionId } = event
      const subject = { streamer, date, sessionId }
      return isKnown(subject, knows) ? build(event.name, { label: '', subject }) : undefined
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

/** Which of the page's routes a path is, and whose. */
function pageOf(path: string): Labelled | undefined {
  const [, route, ...names] = parseNames(path.replace(/\/+$/, '')) ?? []
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

function isKnown(subject: Subject, knows: IsKnownSubject): boolean {
  const { streamer, ...rest } = normalized(subject)
  return streamer === undefined || knows({ streamer, ...rest })
}

function normalized(subject: Subject): Subject {
  return Object.fromEntries(
    Object.entries(subject).map(([key, name]) => [key, name.normalize('NFC')]),
  )
}

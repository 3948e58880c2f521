// The tracked actions of a visitor, in terms of the page; each target translates them for its
// service.
import type { SessionReference } from '../../shared/paths.ts'

/** A streamer, or one of its sessions. */
export type ListedItem = { streamer: string } & Partial<SessionReference>

export type VisitorEvent =
  | { name: 'page_view'; path: string; title: string }
  | { name: 'view_item_list'; list: 'streamers' | 'sessions'; items: readonly ListedItem[] }
  | { name: 'select_item'; list: 'streamers' | 'sessions' | 'recommended'; item: ListedItem }
  | { name: 'begin_video'; session: SessionReference }

/** An event and its page. The visitor may have left that page before the event is sent. */
export interface TrackedEvent {
  event: VisitorEvent
  /** URL of the page. */
  url: string
  /** The previous page or the site that linked here; '' if unknown. */
  referrer: string
}

/** Receives events in the order in which they happened. */
export type Target = (tracked: TrackedEvent) => void

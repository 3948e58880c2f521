// What a visitor can do that is counted, in the page's own terms; each target says it in its service's.
import type { SessionReference } from '../../shared/paths.ts'

/** A streamer, or one of its sessions. */
export type ListedItem = { streamer: string } & Partial<SessionReference>

export type VisitorEvent =
  | { name: 'page_view'; path: string; title: string }
  | { name: 'view_item_list'; list: 'streamers' | 'sessions'; items: readonly ListedItem[] }
  | { name: 'select_item'; list: 'streamers' | 'sessions' | 'recommended'; item: ListedItem }
  | { name: 'begin_video'; session: SessionReference }

/** An event, and where it happened. By the time it is sent the visitor may be elsewhere. */
export interface Sighting {
  event: VisitorEvent
  /** Address of the page. */
  url: string
  /** Where the visitor came from: the page before, or what led to the site; '' where that is unknown. */
  referrer: string
}

/** Takes sightings in the order in which they happened. */
export type Target = (sighting: Sighting) => void

// The catalog's read interface: streamers, their sessions, and the path of a session's recording.
import type { SessionItem, SessionText, StreamerItem } from '../../../shared/contract.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import type { UnplayableReason } from '../../base/problem.ts'

/** One session in the catalog. Names are NFC; `path` is spelled as in storage. */
export interface SessionRow extends SessionReference, SessionText {
  /** Path of the recording, for storage. */
  path: string
  /** `folder`: parts in name order, or a recorder's playlist (see session-folder.ts). */
  kind: 'file' | 'folder'
  /** Start by sidecars, else the recording, else its names, in milliseconds since 1970. */
  startMs?: number | undefined
  /** Absent for one of the recording or its names. */
  startFrom?: 'metadata' | undefined
  sizeBytes: number
  modifiedMs: number
  /** When the recording counts as settled, unless it changes again. */
  settlesAtMs: number
  state: SessionState
}

/** A session in wall-clock time, in milliseconds since 1970. */
export interface TimedSession extends SessionReference, SessionText {
  startMs: number
  endMs: number
}

/** The names of a session of a known streamer. */
export type SessionName = Omit<SessionReference, 'streamer'>

/** The next older and the next newer session. */
export interface Neighbours {
  previous?: SessionRow
  next?: SessionRow
}

/** What cards show of a session besides its names and duration. */
export interface SessionDetail extends SessionName, SessionText {
  /** As of a SessionRow. */
  startMs?: number | undefined
  /** When the recording counts as settled, unless it changes again. */
  settlesAtMs: number
}

/** What a sitemap has of a session. */
export interface SessionEntry extends SessionDetail {
  /** Absent while unknown. */
  durationSeconds?: number
}

/** `found`: listed, not indexed yet. `playable`: indexed. `unplayable`: not listed or counted. */
export type SessionState =
  | { status: 'found' }
  | { status: 'playable'; durationSeconds: number }
  | { status: 'unplayable'; reason: UnplayableReason }

/**
 * Read side of the catalog. All lookups are fast and synchronous; names are compared in NFC. Hidden
 * names are in no list; looking up one of them, or a session of a hidden streamer, throws AppError
 * `gone`.
 */
export interface Catalog {
  /** A number that changes whenever a list may have changed. Cheap enough for every request. */
  generation(): number
  /**
   * Sessions that were added, removed, inspected, hidden or shown between two generations; `all` if
   * that is unknown. With empty date and id: a whole streamer.
   */
  changes(after: number, upTo: number): readonly SessionReference[] | 'all'
  /** Streamers whose lists may have changed between two generations; `all` if that is unknown. */
  changedStreamers(after: number, upTo: number): ReadonlySet<string> | 'all'
  /**
   * Streamers with at least one listed session, sorted. Returns the same array until it changes.
   */
  listStreamers(): StreamerItem[]
  /** Whether `listSessions` returns a list. Reads no list. */
  hasStreamer(streamer: string): boolean
  /** A streamer's listed sessions, newest first; undefined for an unknown streamer. */
  listSessions(streamer: string): SessionItem[] | undefined
  /**
   * The next listed sessions after a name, at most `limit`, in the order of the database; the first
   * ones without a name. Empty for an unknown or hidden streamer. Costs the same for a list of any
   * length.
   */
  sessionsAfter(streamer: string, after: SessionName | undefined, limit: number): SessionEntry[]
  /** A session, playable or not; undefined if there is none. */
  findSession(session: SessionReference): SessionRow | undefined
  /** Users whose messages no chat of this streamer shows, as `foldUser` returns them; sorted. */
  hiddenChatUsers(streamer: string): string[]
  /** The listed sessions of the streamer directly before and after a name, by date and id. */
  neighbours(session: SessionReference): Neighbours
  /**
   * Listed sessions of other streamers that overlap with a session in wall-clock time by at least a
   * minute, longest overlap first, at most 50. Empty while its start or duration is unknown.
   */
  around(session: SessionRow): TimedSession[]
  /** What the list of a streamer's sessions leaves out, in its order; undefined as there. */
  listDetails(streamer: string): SessionDetail[] | undefined
  /** A streamer's listed sessions as rows, newest first, at most `limit`. */
  newestSessions(streamer: string, limit: number): SessionRow[]
  /** Number of a streamer's listed sessions; 0 for an unknown one. Reads no list. */
  countSessions(streamer: string): number
  /**
   * A streamer's listed sessions from a position in its list on, from 0. Reads the dates that these
   * are of, and passes over the index of those before.
   */
  sessionsAt(streamer: string, range: { offset: number; limit: number }): SessionRow[]
  /** The newest listed sessions of all streamers by date, then by the time of their files. */
  newestOfSite(limit: number): SessionRow[]
}

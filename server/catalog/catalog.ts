// What the rest of the server may ask of the catalog: streamers, their sessions, and where a session's recording lies.
import type { SessionItem, StreamerItem } from '../../shared/contract.ts'
import type { SessionReference } from '../../shared/paths.ts'
import type { UnplayableReason } from '../problem.ts'

/** One session as the catalog knows it. Names are NFC; `path` is spelled as the storage spells it. */
export interface SessionRow extends SessionReference {
  /** Path of the recording, for storage. */
  path: string
  /** `folder`: parts in name order, or a playlist that a recorder wrote (see session-folder.ts). */
  kind: 'file' | 'folder'
  /** When the recording began, in milliseconds since 1970, where its names say so. */
  startMs?: number
  sizeBytes: number
  modifiedMs: number
  state: SessionState
}

/** `found`: listed, not indexed yet. `playable`: indexed. `unplayable`: not listed nor counted. */
export type SessionState =
  | { status: 'found' }
  | { status: 'playable'; durationSeconds: number }
  | { status: 'unplayable'; reason: UnplayableReason }

/**
 * Read side of the catalog. All answers are quick look-ups; names are compared in NFC. What an operator took off the
 * site is in no list; to ask for it, or for a session of a streamer who was, throws AppError `gone`.
 */
export interface Catalog {
  /** A number that changes whenever any list may have changed; cheap enough to ask on every request. */
  generation(): number
  /** Names of streamers whose lists may have changed from one generation to another; `all` where that is not known. */
  changedStreamers(after: number, upTo: number): ReadonlySet<string> | 'all'
  /** Streamers with at least one listed session, sorted as the contract says; the same array while nothing of it changes. */
  listStreamers(): StreamerItem[]
  /** A streamer's listed sessions, newest first; undefined where there is no such streamer. */
  listSessions(streamer: string): SessionItem[] | undefined
  /** A session, playable or not; undefined where there is none. */
  findSession(session: SessionReference): SessionRow | undefined
  /** A streamer's listed sessions as rows, newest first, at most `limit`. */
  newestSessions(streamer: string, limit: number): SessionRow[]
}

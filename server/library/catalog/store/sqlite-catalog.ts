// The catalog's read side on SQLite. Lists are cached in memory and updated from the change log.
import { LRUCache } from 'lru-cache'
import { sessionText } from '../../../../shared/contract.ts'
import type { SessionItem, StreamerItem } from '../../../../shared/contract.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import type {
  Catalog,
  Neighbours,
  SessionDetail,
  SessionEntry,
  SessionName,
  SessionRow,
  SessionState,
  TimedSession,
} from '../catalog.ts'
import { prepareCatalogQueries } from './catalog-queries.ts'
import type {
  CatalogQueries,
  DetailRow,
  ListedRow,
  RecordingRow,
  TimedRow,
} from './catalog-queries.ts'
import { createChangeLog } from './change-log.ts'
import type { Change, ChangeLog } from './change-log.ts'
import type { Database } from './database.ts'
import { ALL_STREAMERS, rowOf } from './hidden.ts'
import { parseFacts } from './stored-facts.ts'
import type { SidecarFacts } from './stored-facts.ts'
import { parseStoredReason } from './stored-reason.ts'
import { formatDuration } from '../names/format-duration.ts'
import { joinPath } from '../../../storage/recordings/library-path.ts'
import { compareSessions, compareStreamers, findSorted, sortStreamers } from '../names/ordering.ts'
import { plausibleStart, startOfNames } from '../names/start-time.ts'

/**
 * Cached sessions over all lists, about 130 bytes each. HTTP caches the responses and reads a list
 * again only when it has changed.
 */
const MAX_CACHED_SESSIONS = 200_000
/** Cached single lookups: every segment request makes one. */
const MAX_FOUND_SESSIONS = 1000
/** A shorter overlap of two sessions is by chance. */
const MIN_OVERLAP_MS = 60_000
const MAX_AROUND = 50
/** Cached results of `newestSessions`, each with a few rows. */
const MAX_NEWEST = 1000

/** Opens the catalog's read side; works next to a writer in this or another process. */
export function createCatalog(database: Database): Catalog {
  return new SqliteCatalog(database)
}

class SqliteCatalog implements Catalog {
  readonly #queries: CatalogQueries
  readonly #log: ChangeLog
  #cachedAt = -1
  #streamers: StreamerItem[] | undefined
  readonly #sessions = new LRUCache<string, SessionItem[]>({
    maxSize: MAX_CACHED_SESSIONS,
    sizeCalculation: (sessions) => sessions.length + 1,
  })
  readonly #found = new LRUCache<string, SessionRow>({ max: MAX_FOUND_SESSIONS })
  readonly #newest = new LRUCache<string, { limit: number; rows: SessionRow[] }>({
    max: MAX_NEWEST,
  })

  constructor(database: Database) {
    this.#queries = prepareCatalogQueries(database)
    this.#log = createChangeLog(database)
  }

  generation(): number {
    return this.#log.generation()
  }

  changes(after: number, upTo: number): readonly SessionReference[] | 'all' {
    return this.#log.read(after, upTo)
  }

  changedStreamers(after: number, upTo: number): ReadonlySet<string> | 'all' {
    const changes = this.#log.read(after, upTo)
    return changes === 'all' ? 'all' : new Set(changes.map(({ streamer }) => streamer))
  }

  listStreamers(): StreamerItem[] {
    this.#refresh()
    this.#streamers ??= sortStreamers(this.#queries.streamers.all({}))
    return this.#streamers
  }

  hasStreamer(streamer: string): boolean {
    const name = streamer.normalize('NFC')
    this.#checkShown({ streamer: name, date: '', sessionId: '' })
    return this.#queries.streamer.get({ name }) !== undefined
  }

  listSessions(streamer: string): SessionItem[] | undefined {
    this.#refresh()
    const name = streamer.normalize('NFC')
    const cached = this.#sessions.get(name)
    if (cached) return cached
    this.#checkShown({ streamer: name, date: '', sessionId: '' })
    const found = this.#queries.streamer.get({ name })
    if (!found) return undefined
    const sessions = this.#queries.sessions.all(found).toSorted(compareSessions).map(sessionItem)
    this.#sessions.set(name, sessions)
    return sessions
  }

  sessionsAfter(streamer: string, after: SessionName | undefined, limit: number): SessionEntry[] {
    const name = streamer.normalize('NFC')
    // Every date is after an empty one.
    return this.#queries.sessionsAfter
      .all({ name, date: '', sessionId: '', ...after, limit })
      .map((row) => ({
        ...sessionDetail(row),
        ...(row.durationSeconds !== null && { durationSeconds: row.durationSeconds }),
      }))
  }

  findSession(reference: SessionReference): SessionRow | undefined {
    this.#refresh()
    const streamer = reference.streamer.normalize('NFC')
    const date = reference.date.normalize('NFC')
    const sessionId = reference.sessionId.normalize('NFC')
    const key = foundKey({ streamer, date, sessionId })
    const known = this.#found.get(key)
    if (known !== undefined) return known
    this.#checkShown({ streamer, date, sessionId })
    const row = this.#queries.session.get({ streamer, date, sessionId })
    if (row === undefined) return undefined
    const found = sessionRow(row)
    this.#found.set(key, found)
    return found
  }

  hiddenChatUsers(streamer: string): string[] {
    const row = rowOf({ kind: 'chat-user', user: '', streamer })
    const users = this.#queries.hiddenChatUsers.all({ ...row, all: ALL_STREAMERS })
    return users.map(({ sessionId }) => sessionId)
  }

  newestSessions(streamer: string, limit: number): SessionRow[] {
    this.#refresh()
    const name = streamer.normalize('NFC')
    const known = this.#newest.get(name)
    if (known?.limit === limit) return known.rows
    this.#checkShown({ streamer: name, date: '', sessionId: '' })
    const rows = this.#readAt(name, { offset: 0, limit })
    this.#newest.set(name, { limit, rows })
    return rows
  }

  countSessions(streamer: string): number {
    const name = streamer.normalize('NFC')
    this.#checkShown({ streamer: name, date: '', sessionId: '' })
    return this.#queries.shownStreamer.get({ name })?.recording_count ?? 0
  }

  sessionsAt(streamer: string, range: { offset: number; limit: number }): SessionRow[] {
    const name = streamer.normalize('NFC')
    this.#checkShown({ streamer: name, date: '', sessionId: '' })
    return this.#readAt(name, range)
  }

  newestOfSite(limit: number): SessionRow[] {
    return this.#queries.newestOfSite.all({ limit }).map(sessionRow)
  }

  neighbours(session: SessionReference): Neighbours {
    const streamer = session.streamer.normalize('NFC')
    const date = session.date.normalize('NFC')
    const key = { date, sessionId: session.sessionId.normalize('NFC') }
    const found = this.#queries.streamer.get({ name: streamer })
    if (found === undefined) return {}
    const { id } = found
    const names = this.#namesOfDate(id, date)
    const { at, found: itself } = findSorted(names, key, compareSessions)
    // Newest first.
    const newer =
      names[at - 1] ?? this.#namesOfDate(id, this.#queries.dateAfter.get({ id, date })?.date).at(-1)
    const older =
      names[itself ? at + 1 : at] ??
      this.#namesOfDate(id, this.#queries.dateBefore.get({ id, date })?.date)[0]
    const previous = older && this.#queries.session.get({ streamer, ...older })
    const next = newer && this.#queries.session.get({ streamer, ...newer })
    return {
      ...(previous && { previous: sessionRow(previous) }),
      ...(next && { next: sessionRow(next) }),
    }
  }

  around({ streamer, startMs, state }: SessionRow): TimedSession[] {
    if (startMs === undefined || state.status !== 'playable') return []
    const endMs = startMs + state.durationSeconds * 1000
    const period = { startMs, endMs, overlapMs: MIN_OVERLAP_MS, limit: MAX_AROUND }
    return this.#queries.around.all({ streamer, ...period }).map(timedSession)
  }

  listDetails(streamer: string): SessionDetail[] | undefined {
    const name = streamer.normalize('NFC')
    this.#checkShown({ streamer: name, date: '', sessionId: '' })
    const found = this.#queries.streamer.get({ name })
    return found && this.#queries.details.all(found).toSorted(compareSessions).map(sessionDetail)
  }

  /** In the order of lists; none without a date. */
  #namesOfDate(id: number, date: string | undefined): SessionName[] {
    if (date === undefined) return []
    const ids = this.#queries.idsOfDate.all({ id, date })
    return ids.map(({ sessionId }) => ({ date, sessionId })).toSorted(compareSessions)
  }

  #readAt(name: string, { offset, limit }: { offset: number; limit: number }): SessionRow[] {
    const found = this.#queries.streamer.get({ name })
    if (!found || limit < 1) return []
    const first = this.#queries.dateAt.get({ ...found, offset })
    if (first === undefined) return []
    // Ids have no order in the database, so the dates of the result are read whole.
    const last = this.#queries.dateAt.get({ ...found, offset: offset + limit - 1 })
    const newest = first.date
    const before =
      offset === 0 ? 0 : this.#queries.countAfter.get({ ...found, date: newest })?.count
    const start = offset - (before ?? 0)
    return this.#queries.sessionsOfDates
      .all({ ...found, oldest: last?.date ?? '', newest })
      .toSorted(compareSessions)
      .slice(start, start + limit)
      .map(sessionRow)
  }

  /** @throws AppError `gone` if the name is hidden, whether or not it exists */
  #checkShown(names: SessionReference): void {
    if (this.#queries.hidden.get({ ...names }) === undefined) return
    throw new AppError('gone', 'this was removed from the site')
  }

  /**
   * Brings the cache up to the catalog's generation; clears it if the changes are unknown or too
   * many.
   */
  #refresh(): void {
    const generation = this.generation()
    if (generation === this.#cachedAt) return
    const changes = this.#log.read(this.#cachedAt, generation)
    this.#cachedAt = generation
    if (changes === 'all') this.#dropAll()
    else for (const change of changes) this.#follow(change)
  }

  #dropAll(): void {
    this.#streamers = undefined
    this.#sessions.clear()
    this.#found.clear()
    this.#newest.clear()
  }

  #follow(change: Change): void {
    const { streamer, date, sessionId } = change
    this.#newest.delete(streamer)
    this.#followStreamer(streamer)
    if (date !== '' || sessionId !== '') {
      this.#found.delete(foundKey(change))
      this.#followSession(change)
      return
    }
    this.#sessions.delete(streamer)
    for (const key of this.#found.keys()) {
      if (key.startsWith(`${streamer}/`)) this.#found.delete(key)
    }
  }

  #followStreamer(name: string): void {
    const streamers = this.#streamers
    if (streamers === undefined) return
    const { at, found } = findSorted(streamers, { name }, compareStreamers)
    const now = this.#queries.shownStreamer.get({ name })
    if (now?.recording_count === found?.recording_count) return
    this.#streamers = streamers.toSpliced(at, found ? 1 : 0, ...(now ? [now] : []))
  }

  #followSession(change: Change): void {
    const sessions = this.#sessions.get(change.streamer)
    if (sessions === undefined) return
    const { at, found } = findSorted(sessions, change, compareSessions)
    const now = this.#queries.listedSession.get(change)
    const followed = sessions.toSpliced(at, found ? 1 : 0, ...(now ? [sessionItem(now)] : []))
    // Without a session the streamer may be gone; the next lookup decides.
    if (followed.length === 0) this.#sessions.delete(change.streamer)
    else this.#sessions.set(change.streamer, followed)
  }
}

/** Names contain no slash. */
function foundKey({ streamer, date, sessionId }: SessionReference): string {
  return `${streamer}/${date}/${sessionId}`
}

function sessionItem(row: ListedRow): SessionItem {
  const { date, sessionId, durationSeconds: seconds } = row
  return seconds === null
    ? { date, sessionId }
    : { date, sessionId, duration: formatDuration(seconds) }
}

function sessionDetail(row: DetailRow): SessionDetail {
  const { date, sessionId, settlesAtMs } = row
  return { date, sessionId, settlesAtMs, ...factsOf(row) }
}

/** What the sidecars contain; the start else by the recording, before its inspection by names. */
function factsOf(row: DetailRow): SidecarFacts {
  const facts = parseFacts(row.facts)
  if (facts.startMs !== undefined) return facts
  const startMs = plausibleStart(row.recordedStartMs) ?? startOfNames(row)
  return startMs === undefined ? facts : { ...facts, startMs }
}

function timedSession({ facts, ...row }: TimedRow): TimedSession {
  const { streamer, date, sessionId, startMs, endMs } = row
  return { ...sessionText(parseFacts(facts)), streamer, date, sessionId, startMs, endMs }
}

function sessionRow(row: RecordingRow): SessionRow {
  const { streamer, date, sessionId } = row
  const { startMs: metadataMs } = parseFacts(row.facts)
  return {
    streamer,
    date,
    sessionId,
    path: joinPath(row.folder, row.name),
    sizeBytes: row.sizeBytes,
    modifiedMs: row.modifiedMs,
    settlesAtMs: row.settlesAtMs,
    kind: row.kind,
    ...factsOf(row),
    ...(metadataMs !== undefined && { startFrom: 'metadata' }),
    state: sessionState(row),
  }
}

function sessionState({ durationSeconds: seconds, reason }: RecordingRow): SessionState {
  if (seconds !== null) return { status: 'playable', durationSeconds: seconds }
  const parsed = reason === null ? undefined : parseStoredReason(reason)
  return parsed === undefined ? { status: 'found' } : { status: 'unplayable', reason: parsed }
}

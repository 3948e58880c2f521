// The read side of the catalog over its database. Lists are kept in memory until the catalog's generation moves.
import { LRUCache } from 'lru-cache'
import type { SessionItem, StreamerItem } from '../../shared/contract.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { AppError } from '../errors.ts'
import type { Catalog, SessionRow, SessionState } from './catalog.ts'
import { prepareCatalogQueries } from './catalog-queries.ts'
import type { CatalogQueries, RecordingRow } from './catalog-queries.ts'
import type { Database } from './database.ts'
import { formatDuration } from './duration-text.ts'
import { joinPath } from './library-path.ts'
import { compareSessions, sortStreamers } from './ordering.ts'
import { parseRecordingName } from './recording-name.ts'
import { startTimeMs } from './start-time.ts'

/** Sessions kept in memory over all lists; a session takes about 100 bytes. */
const MAX_CACHED_SESSIONS = 200_000
/** Sessions that were asked for one by one, by every segment of theirs. */
const MAX_FOUND_SESSIONS = 1000

/** The catalog's read side; works beside a writer in this or another process. */
export function createCatalog(database: Database): Catalog {
  return new SqliteCatalog(database)
}

class SqliteCatalog implements Catalog {
  readonly #queries: CatalogQueries
  #cachedAt = -1
  #streamers: StreamerItem[] | undefined
  readonly #sessions = new Map<string, SessionItem[]>()
  #cachedSessions = 0
  readonly #found = new LRUCache<string, SessionRow>({ max: MAX_FOUND_SESSIONS })

  constructor(database: Database) {
    this.#queries = prepareCatalogQueries(database)
  }

  generation(): number {
    return this.#queries.generation.get({})?.generation ?? 0
  }

  listStreamers(): StreamerItem[] {
    this.#dropIfStale()
    this.#streamers ??= sortStreamers(this.#queries.streamers.all({}))
    return this.#streamers
  }

  listSessions(streamer: string): SessionItem[] | undefined {
    this.#dropIfStale()
    const name = streamer.normalize('NFC')
    const cached = this.#sessions.get(name)
    if (cached) return cached
    this.#checkShown({ streamer: name, date: '', sessionId: '' })
    const found = this.#queries.streamer.get({ name })
    if (!found) return undefined
    const sessions = this.#queries.sessions.all(found).toSorted(compareSessions).map(sessionItem)
    this.#keep(name, sessions)
    return sessions
  }

  findSession(reference: SessionReference): SessionRow | undefined {
    this.#dropIfStale()
    const streamer = reference.streamer.normalize('NFC')
    const date = reference.date.normalize('NFC')
    const sessionId = reference.sessionId.normalize('NFC')
    // No name holds a slash.
    const key = `${streamer}/${date}/${sessionId}`
    const known = this.#found.get(key)
    if (known !== undefined) return known
    this.#checkShown({ streamer, date, sessionId })
    const row = this.#queries.session.get({ streamer, date, sessionId })
    if (row === undefined) return undefined
    const found = sessionRow(row)
    this.#found.set(key, found)
    return found
  }

  newestSessions(streamer: string, limit: number): SessionRow[] {
    const name = streamer.normalize('NFC')
    this.#checkShown({ streamer: name, date: '', sessionId: '' })
    const found = this.#queries.streamer.get({ name })
    if (!found || limit < 1) return []
    // ids have no order in the database, so the oldest date of the answer is taken whole
    const oldest = this.#queries.dateAt.get({ ...found, offset: limit - 1 })
    return this.#queries.newest
      .all({ ...found, date: oldest?.date ?? '' })
      .toSorted(compareSessions)
      .slice(0, limit)
      .map(sessionRow)
  }

  /** @throws AppError `gone` where it was taken off the site, whether it is there or not */
  #checkShown(names: SessionReference): void {
    if (this.#queries.hidden.get({ ...names }) === undefined) return
    throw new AppError('gone', 'this was taken off the site')
  }

  #dropIfStale(): void {
    const generation = this.generation()
    if (generation === this.#cachedAt) return
    this.#cachedAt = generation
    this.#streamers = undefined
    this.#found.clear()
    this.#dropSessions()
  }

  #dropSessions(): void {
    this.#sessions.clear()
    this.#cachedSessions = 0
  }

  #keep(name: string, sessions: SessionItem[]): void {
    if (this.#cachedSessions + sessions.length > MAX_CACHED_SESSIONS) this.#dropSessions()
    if (sessions.length > MAX_CACHED_SESSIONS) return
    this.#sessions.set(name, sessions)
    this.#cachedSessions += sessions.length
  }
}

function sessionItem(row: {
  date: string
  sessionId: string
  duration_seconds: number | null
}): SessionItem {
  const { date, sessionId, duration_seconds: seconds } = row
  return seconds === null
    ? { date, sessionId }
    : { date, sessionId, duration: formatDuration(seconds) }
}

function sessionRow(row: RecordingRow): SessionRow {
  const { streamer, date, sessionId } = row
  const file = row.kind === 'file' ? parseRecordingName(row.name) : undefined
  const fileName = file?.base ?? row.name
  const startMs = startTimeMs({ date, sessionId, fileName })
  return {
    streamer,
    date,
    sessionId,
    path: joinPath(row.folder, row.name),
    sizeBytes: row.size_bytes,
    modifiedMs: row.modified_ms,
    kind: row.kind,
    ...(startMs !== undefined && { startMs }),
    state: sessionState(row),
  }
}

function sessionState({ duration_seconds: seconds, reason }: RecordingRow): SessionState {
  if (seconds !== null) return { status: 'playable', durationSeconds: seconds }
  return reason === null ? { status: 'found' } : { status: 'unplayable', reason }
}

// The read side of the catalog over its database. Lists are kept in memory until the catalog's generation moves.
import type { SessionItem, StreamerItem } from '../../shared/contract.ts'
import type { SessionReference } from '../../shared/paths.ts'
import type { Catalog, SessionRow, SessionState } from './catalog.ts'
import { prepareCatalogQueries } from './catalog-queries.ts'
import type { CatalogQueries, RecordingRow } from './catalog-queries.ts'
import type { Database } from './database.ts'
import { formatDuration } from './duration-text.ts'
import { joinPath } from './library-path.ts'
import { compareSessions, sortStreamers } from './ordering.ts'

/** Sessions kept in memory over all lists; a session takes about 100 bytes. */
const MAX_CACHED_SESSIONS = 200_000

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
    const found = this.#queries.streamer.get({ name })
    if (!found) return undefined
    const sessions = this.#queries.sessions.all(found).toSorted(compareSessions).map(sessionItem)
    this.#keep(name, sessions)
    return sessions
  }

  findSession({ streamer, date, sessionId }: SessionReference): SessionRow | undefined {
    const row = this.#queries.session.get({
      streamer: streamer.normalize('NFC'),
      date: date.normalize('NFC'),
      sessionId: sessionId.normalize('NFC'),
    })
    return row && sessionRow(row)
  }

  newestSessions(streamer: string, limit: number): SessionRow[] {
    const found = this.#queries.streamer.get({ name: streamer.normalize('NFC') })
    if (!found || limit < 1) return []
    // ids have no order in the database, so the oldest date of the answer is taken whole
    const oldest = this.#queries.dateAt.get({ ...found, offset: limit - 1 })
    return this.#queries.newest
      .all({ ...found, date: oldest?.date ?? '' })
      .toSorted(compareSessions)
      .slice(0, limit)
      .map(sessionRow)
  }

  #dropIfStale(): void {
    const generation = this.generation()
    if (generation === this.#cachedAt) return
    this.#cachedAt = generation
    this.#streamers = undefined
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
  return {
    streamer: row.streamer,
    date: row.date,
    sessionId: row.sessionId,
    path: joinPath(row.folder, row.name),
    sizeBytes: row.size_bytes,
    modifiedMs: row.modified_ms,
    state: sessionState(row),
  }
}

function sessionState({ duration_seconds: seconds, reason }: RecordingRow): SessionState {
  if (seconds !== null) return { status: 'playable', durationSeconds: seconds }
  return reason === null ? { status: 'found' } : { status: 'unplayable', reason }
}

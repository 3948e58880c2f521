// Maintains, inside a writer's transaction, which recording represents a session and how many
// sessions a streamer has. Sessions are marked as touched, and settled together before the
// transaction ends.
import { createChangeLog } from './change-log.ts'
import type { Change } from './change-log.ts'
import type { Database } from './database.ts'
import type { Values } from './recording-columns.ts'

/** Database key of one session. */
export interface SessionKey {
  streamerId: number
  date: string
  sessionId: string
}

export type SessionListing = ReturnType<typeof createSessionListing>

/** Creates the listing state of one writer. */
export function createSessionListing(database: Database) {
  const queries = prepareListingQueries(database)
  const log = createChangeLog(database)
  const touched = new Map<string, SessionKey>()
  const alone = new Map<string, SessionKey>()
  const noted: Change[] = []

  return {
    /** Id of a streamer by NFC name; inserts it if missing. */
    ensureStreamer(name: string): number {
      const known = queries.streamer.get({ name }) ?? queries.addStreamer.get({ name })
      if (!known) throw new Error('an inserted streamer has no id')
      return known.id
    },

    /**
     * Whether a streamer has no recording of a date and nothing is hidden: then a new recording is
     * listed at once.
     */
    isNewDate({ streamerId, date }: SessionKey): boolean {
      return queries.anyOfDate.get({ streamerId, date }) === undefined && !this.hasHidden()
    },

    /** Marks a session whose recordings were added, removed or inspected. */
    touch(key: SessionKey): void {
      const text = textOf(key)
      touched.set(text, key)
      alone.delete(text)
    },

    /**
     * Marks a session that got its first, listed recording in this transaction: it needs no choice
     * unless another one follows.
     */
    addFirst(key: SessionKey): void {
      const text = textOf(key)
      if (alone.delete(text)) touched.set(text, key)
      else if (!touched.has(text)) alone.set(text, key)
    },

    /** Logs a change that affects neither which recording is listed nor the number of sessions. */
    note(change: Change): void {
      noted.push(change)
    },

    /** Whether anything is hidden. */
    hasHidden(): boolean {
      return queries.anyHidden.get({}) !== undefined
    },

    /**
     * Updates all touched sessions and their streamers, and writes the change log. Call at the end
     * of each transaction.
     */
    settle(): void {
      const names = new Map<number, string>()
      const hasHidden = this.hasHidden()
      for (const key of touched.values()) settleSession(queries, { key, hasHidden })
      const keys = [...touched.values(), ...alone.values()]
      for (const id of new Set(keys.map(({ streamerId }) => streamerId))) {
        names.set(id, queries.streamerName.get({ id })?.name ?? '')
        queries.count.run({ id })
        queries.removeIfEmpty.run({ id })
      }
      const changes = keys.map(({ streamerId, date, sessionId }) => {
        return { streamer: names.get(streamerId) ?? '', date, sessionId }
      })
      if (changes.length + noted.length > 0) log.write([...changes, ...noted])
      touched.clear()
      alone.clear()
      noted.length = 0
    },
  }
}

/** Names contain no slash. */
function textOf({ streamerId, date, sessionId }: SessionKey): string {
  return `${streamerId}/${date}/${sessionId}`
}

interface Candidate extends Values<'status'> {
  id: number
  listed: number
}

type ListingQueries = ReturnType<typeof prepareListingQueries>

/**
 * The first possibly playable recording represents the session; none if all are unplayable or it is
 * hidden.
 */
function settleSession(
  queries: ListingQueries,
  { key, hasHidden }: { key: SessionKey; hasHidden: boolean },
): void {
  const found = queries.candidates.all(key)
  // Nearly every session has one recording, and sorting in the database costs ten times the lookup.
  const candidates = found.length > 1 ? queries.sortedCandidates.all(key) : found
  const isHidden = hasHidden && queries.hidden.get(key) !== undefined
  const chosen = isHidden ? undefined : candidates.find(({ status }) => status !== 'unplayable')
  for (const candidate of candidates) {
    const listed = candidate === chosen ? 1 : 0
    if (candidate.listed !== listed) queries.setListed.run({ id: candidate.id, listed })
  }
}

function prepareListingQueries(database: Database) {
  const ofSession = 'streamer_id = @streamerId AND date = @date AND session_id = @sessionId'
  return {
    ...prepareStreamerQueries(database),
    candidates: database.query<SessionKey, Candidate>(
      `SELECT id, status, listed FROM recordings WHERE ${ofSession}`,
    ),
    sortedCandidates: database.query<SessionKey, Candidate>(`
      SELECT recordings.id, status, listed
      FROM recordings JOIN folders ON folders.id = recordings.folder_id
      WHERE ${ofSession} ORDER BY rank, path, name`),
    anyOfDate: database.query<Omit<SessionKey, 'sessionId'>, { id: number }>(
      'SELECT id FROM recordings WHERE streamer_id = @streamerId AND date = @date LIMIT 1',
    ),
    anyHidden: database.query<object, { streamer: string }>('SELECT streamer FROM hidden LIMIT 1'),
    hidden: database.query<SessionKey, { id: number }>(`
      SELECT streamers.id FROM streamers JOIN hidden ON hidden.streamer = streamers.name
      WHERE streamers.id = @streamerId AND hidden.date = @date
        AND hidden.session_id = @sessionId`),
    setListed: database.query<{ id: number; listed: number }>(
      'UPDATE recordings SET listed = @listed WHERE id = @id',
    ),
  }
}

function prepareStreamerQueries(database: Database) {
  return {
    streamer: database.query<{ name: string }, { id: number }>(
      'SELECT id FROM streamers WHERE name = @name',
    ),
    streamerName: database.query<{ id: number }, { name: string }>(
      'SELECT name FROM streamers WHERE id = @id',
    ),
    addStreamer: database.query<{ name: string }, { id: number }>(
      'INSERT INTO streamers (name, recording_count) VALUES (@name, 0) RETURNING id',
    ),
    count: database.query<{ id: number }>(`
      UPDATE streamers SET recording_count = (
        SELECT count(*) FROM recordings WHERE streamer_id = @id AND listed = 1)
      WHERE id = @id`),
    removeIfEmpty: database.query<{ id: number }>(`
      DELETE FROM streamers WHERE id = @id AND recording_count = 0
        AND NOT EXISTS (SELECT 1 FROM recordings WHERE streamer_id = @id)`),
  }
}

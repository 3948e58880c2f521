// Maintains, inside a writer's transaction, which recording represents a session and how many
// sessions a streamer has. Sessions are marked as touched, and settled together before the
// transaction ends.
import { sql } from 'kysely'
import { createChangeLog } from './change-log.ts'
import type { Change } from './change-log.ts'
import type { Database } from './database.ts'

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
  return {
    ...prepareStreamerQueries(database),
    candidates: database.prepare<SessionKey>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select(['id', 'status', 'listed'])
        .where('streamer_id', '=', parameter('streamerId'))
        .where('date', '=', parameter('date'))
        .where('session_id', '=', parameter('sessionId')),
    ),
    sortedCandidates: database.prepare<SessionKey>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .innerJoin('folders', 'folders.id', 'recordings.folder_id')
        .select(['recordings.id', 'status', 'listed'])
        .where('streamer_id', '=', parameter('streamerId'))
        .where('date', '=', parameter('date'))
        .where('session_id', '=', parameter('sessionId'))
        .orderBy('rank')
        .orderBy('path')
        .orderBy('name'),
    ),
    anyOfDate: database.prepare<Omit<SessionKey, 'sessionId'>>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select('streamer_id')
        .where('streamer_id', '=', parameter('streamerId'))
        .where('date', '=', parameter('date'))
        .limit(sql.lit(1)),
    ),
    anyHidden: database.prepare<object>()((kysely) =>
      kysely.selectFrom('hidden').select('streamer').limit(sql.lit(1)),
    ),
    hidden: database.prepare<SessionKey>()((kysely, parameter) =>
      kysely
        .selectFrom('streamers')
        .innerJoin('hidden', 'hidden.streamer', 'streamers.name')
        .select('streamers.id')
        .where('streamers.id', '=', parameter('streamerId'))
        .where('hidden.date', '=', parameter('date'))
        .where('hidden.session_id', '=', parameter('sessionId')),
    ),
    setListed: database.prepare<{ id: number; listed: number }>()((kysely, parameter) =>
      kysely
        .updateTable('recordings')
        .set({ listed: parameter('listed') })
        .where('id', '=', parameter('id')),
    ),
  }
}

function prepareStreamerQueries(database: Database) {
  return {
    streamer: database.prepare<{ name: string }>()((kysely, parameter) =>
      kysely.selectFrom('streamers').select('id').where('name', '=', parameter('name')),
    ),
    streamerName: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely.selectFrom('streamers').select('name').where('id', '=', parameter('id')),
    ),
    addStreamer: database.prepare<{ name: string }>()((kysely, parameter) =>
      kysely
        .insertInto('streamers')
        .values({ name: parameter('name'), recording_count: 0 })
        .returning('id'),
    ),
    count: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely
        .updateTable('streamers')
        .set((expression) => ({
          recording_count: expression
            .selectFrom('recordings')
            .select((count) => count.fn.countAll<number>().as('count'))
            .where('streamer_id', '=', parameter('id'))
            .where('listed', '=', 1),
        }))
        .where('id', '=', parameter('id')),
    ),
    removeIfEmpty: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely
        .deleteFrom('streamers')
        .where('id', '=', parameter('id'))
        .where('recording_count', '=', 0)
        .where((expression) =>
          expression.not(
            expression.exists(
              expression
                .selectFrom('recordings')
                .select('recordings.id')
                .where('streamer_id', '=', parameter('id')),
            ),
          ),
        ),
    ),
  }
}

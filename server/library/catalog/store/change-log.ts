// A log of changes per catalog generation, so that readers update their lists incrementally.
import type { SessionReference } from '../../../../shared/paths.ts'
import type { Database } from './database.ts'

/**
 * A session that was added, removed or inspected. With empty date and id: a whole streamer, by name
 * in NFC.
 */
export type Change = SessionReference

/** Generations in the log: a reader that missed more reloads its lists. */
const KEPT_GENERATIONS = 1000
/** With more changes than this, reloading is cheaper than following the log. */
const MAX_CHANGES = 200

export type ChangeLog = ReturnType<typeof createChangeLog>

/** The log of one connection. */
export function createChangeLog(database: Database) {
  const queries = prepareChangeQueries(database)

  return {
    /** The catalog's generation: a number that grows with every change of any list. */
    generation(): number {
      return queries.generation.get({})?.generation ?? 0
    },

    /** Starts a new generation and logs its changes. Call inside the transaction that made them. */
    write(changes: readonly Change[] | 'all'): void {
      const generation = queries.next.get({})?.generation
      if (generation === undefined) throw new Error('the catalog has no generation')
      const isAll = changes === 'all' || changes.length > MAX_CHANGES
      for (const change of isAll ? [EVERYTHING] : changes)
        queries.add.run({ ...change, generation })
      queries.forget.run({ generation: generation - KEPT_GENERATIONS })
    },

    /**
     * Changes after one generation up to another (or later); `all` if there are too many, or the
     * log was truncated.
     */
    read(after: number, upTo: number): Change[] | 'all' {
      if (after < 0 || after > upTo || upTo - after > KEPT_GENERATIONS) return 'all'
      const changes = queries.since.all({ generation: after })
      const isAll = changes.length > MAX_CHANGES || changes.some(({ streamer }) => streamer === '')
      return isAll ? 'all' : changes
    },
  }
}

/** Not a valid streamer name. */
const EVERYTHING: Change = { streamer: '', date: '', sessionId: '' }

function prepareChangeQueries(database: Database) {
  return {
    generation: database.query<object, { generation: number }>('SELECT generation FROM library'),
    next: database.query<object, { generation: number }>(
      'UPDATE library SET generation = generation + 1 RETURNING generation',
    ),
    add: database.query<Change & { generation: number }>(`
      INSERT INTO changes (generation, streamer, date, session_id)
      VALUES (@generation, @streamer, @date, @sessionId) ON CONFLICT DO NOTHING`),
    forget: database.query<{ generation: number }>(
      'DELETE FROM changes WHERE generation <= @generation',
    ),
    since: database.query<{ generation: number }, Change>(`
      SELECT DISTINCT streamer, date, session_id AS "sessionId" FROM changes
      WHERE generation > @generation LIMIT ${MAX_CHANGES + 1}`),
  }
}

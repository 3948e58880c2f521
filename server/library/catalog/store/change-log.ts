// A log of changes per catalog generation, so that readers update their lists incrementally.
import { sql } from 'kysely'
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
    generation: database.prepare<object>()((kysely) =>
      kysely.selectFrom('library').select('generation'),
    ),
    next: database.prepare<object>()((kysely) =>
      kysely
        .updateTable('library')
        .set({ generation: sql`generation + 1` })
        .returning('generation'),
    ),
    add: database.prepare<Change & { generation: number }>()((kysely, parameter) =>
      kysely
        .insertInto('changes')
        .values({
          generation: parameter('generation'),
          streamer: parameter('streamer'),
          date: parameter('date'),
          session_id: parameter('sessionId'),
        })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    forget: database.prepare<{ generation: number }>()((kysely, parameter) =>
      kysely.deleteFrom('changes').where('generation', '<=', parameter('generation')),
    ),
    since: database.prepare<{ generation: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('changes')
        .select(['streamer', 'date', 'session_id as sessionId'])
        .distinct()
        .where('generation', '>', parameter('generation'))
        .limit(sql.lit(MAX_CHANGES + 1)),
    ),
  }
}

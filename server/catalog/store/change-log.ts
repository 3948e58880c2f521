// What changed with each of the catalog's last generations, so that readers bring their lists up to date without reading
// them whole.
import { sql } from 'kysely'
import type { SessionReference } from '../../../shared/paths.ts'
import type { Database } from './database.ts'

/** A session that was added, removed or inspected. With empty date and id: all of a streamer, by name in NFC. */
export type Change = SessionReference

/** Generations whose changes are kept: a reader that sleeps longer reads its lists anew. */
const KEPT_GENERATIONS = 1000
/** More changes at once than this, and reading anew costs less than to follow. */
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

    /** Begins a new generation, and says what is other in it. To be called inside of the transaction that changed it. */
    write(changes: readonly Change[] | 'all'): void {
      const generation = queries.next.get({})?.generation
      if (generation === undefined) throw new Error('the catalog has no generation')
      const isAll = changes === 'all' || changes.length > MAX_CHANGES
      for (const change of isAll ? [EVERYTHING] : changes)
        queries.add.run({ ...change, generation })
      queries.forget.run({ generation: generation - KEPT_GENERATIONS })
    },

    /** What changed after a generation, up to another (or beyond it); `all` where that is too much, or not known. */
    read(after: number, upTo: number): Change[] | 'all' {
      if (after < 0 || after > upTo || upTo - after > KEPT_GENERATIONS) return 'all'
      const changes = queries.since.all({ generation: after })
      const isAll = changes.length > MAX_CHANGES || changes.some(({ streamer }) => streamer === '')
      return isAll ? 'all' : changes
    },
  }
}

/** No streamer has this name. */
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

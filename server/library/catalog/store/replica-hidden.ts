// The hidden names of a replica. They have a position of their own in the shared database, so that
// they need not wait for recordings.
import type { Database } from './database.ts'
import { createHiddenNames, rowOf } from './hidden.ts'
import type { HiddenChange, HiddenRow } from './hidden.ts'
import { isAt } from './replica-position.ts'
import type { ReplicaPosition } from './replica-position.ts'

export type HiddenReplica = ReturnType<typeof openHiddenReplica>

/** @param database a connection of role `follow` */
export function openHiddenReplica(database: Database) {
  const queries = prepareHiddenReplicaQueries(database)
  const names = createHiddenNames(database)
  const position = (): ReplicaPosition | undefined => queries.position.get({})
  return {
    /** Undefined before all names were compared with those of a shared database. */
    position,

    list: (): HiddenRow[] => names.list().map(rowOf),

    /** Names after one, up to another, or all that follow, in byte order. */
    between: (after: HiddenRow, upTo: HiddenRow | undefined): HiddenRow[] =>
      queries.between.all({
        ...after,
        lastStreamer: upTo?.streamer ?? null,
        lastDate: upTo?.date ?? null,
        lastSessionId: upTo?.sessionId ?? null,
      }),

    /**
     * Applies changes and moves the position in one transaction, unless another process of this
     * data folder has moved it; returns whether it did.
     */
    apply(
      changes: readonly HiddenChange[],
      expected: ReplicaPosition | undefined,
      next = expected,
    ): boolean {
      return database.transaction(() => {
        if (!isAt(position(), expected)) return false
        names.set(changes)
        if (next !== undefined && !isAt(next, expected)) queries.moveTo.run(next)
        return true
      })
    },
  }
}

interface Span extends HiddenRow {
  lastStreamer: string | null
  lastDate: string | null
  lastSessionId: string | null
}

function prepareHiddenReplicaQueries(database: Database) {
  return {
    position: database.query<object, ReplicaPosition>(
      'SELECT identity, epoch, generation FROM hidden_position',
    ),
    moveTo: database.query<ReplicaPosition>(`
      REPLACE INTO hidden_position (id, identity, epoch, generation)
      VALUES (1, @identity, @epoch, @generation)`),
    between: database.query<Span, HiddenRow>(`
      SELECT streamer, date, session_id AS "sessionId" FROM hidden
      WHERE (streamer, date, session_id) > (@streamer, @date, @sessionId)
        AND (@lastStreamer IS NULL
          OR (streamer, date, session_id) <= (@lastStreamer, @lastDate, @lastSessionId))`),
  }
}

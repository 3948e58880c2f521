// The hidden names of a replica. They have a position of their own in the shared database, so that
// they need not wait for recordings.
import { sql } from 'kysely'
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
        lastStreamer: upTo?.streamer,
        lastDate: upTo?.date,
        lastSessionId: upTo?.sessionId,
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
  lastStreamer: string | undefined
  lastDate: string | undefined
  lastSessionId: string | undefined
}

function prepareHiddenReplicaQueries(database: Database) {
  return {
    position: database.prepare<object>()((kysely) =>
      kysely.selectFrom('hidden_position').select(['identity', 'epoch', 'generation']),
    ),
    moveTo: database.prepare<ReplicaPosition>()((kysely, parameter) =>
      kysely.replaceInto('hidden_position').values({
        id: sql.lit(1),
        identity: parameter('identity'),
        epoch: parameter('epoch'),
        generation: parameter('generation'),
      }),
    ),
    between: database.prepare<Span>()((kysely, parameter) =>
      kysely
        .selectFrom('hidden')
        .select(['streamer', 'date', 'session_id as sessionId'])
        .where(
          sql<boolean>`(streamer, date, session_id) > (
            ${parameter('streamer')}, ${parameter('date')}, ${parameter('sessionId')})`,
        )
        .where(
          sql<boolean>`(${parameter('lastStreamer')} IS NULL OR (streamer, date, session_id) <= (
            ${parameter('lastStreamer')}, ${parameter('lastDate')}, ${parameter('lastSessionId')}))`,
        ),
    ),
  }
}

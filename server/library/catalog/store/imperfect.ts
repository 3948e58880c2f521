// The recordings that are unplayable, partly playable or not served: all of them for `aftercast
// check`, and the query of each of them.
import type { Kysely } from 'kysely'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { UnplayableReason } from '../../../base/problem.ts'
import { joinPath } from '../names/library-path.ts'
import type { Database } from './database.ts'
import type { CatalogSchema } from './schema.ts'
import { parseStoredReason } from './stored-reason.ts'

/** A recording that is not fully playable. */
export interface ImperfectRecording {
  path: string
  kind: 'file' | 'folder'
  session: SessionReference
  state: ImperfectState
  /** `FileStat.version` of a file; empty in a row of an older release. */
  version: string
}

/**
 * `limited`: plays, but something of it is missing or corrupt; `duplicate`: another recording is
 * served for the same session.
 */
export type ImperfectState =
  | { status: 'unplayable'; reason: UnplayableReason }
  | { status: 'limited' }
  | { status: 'duplicate'; servedPath: string }

/** Sorted by path. Reads the whole table: not for requests. */
export function listImperfect(database: Database): ImperfectRecording[] {
  const query = database.prepare<object>()((kysely) =>
    selectImperfect(kysely)
      .where((recording) =>
        recording.or([
          recording('recordings.listed', '=', 0),
          recording('recordings.flawed', '=', 1),
        ]),
      )
      .orderBy('folders.path')
      .orderBy('recordings.name'),
  )
  return query.all({}).flatMap(imperfectOf)
}

type ImperfectRow = Awaited<ReturnType<ReturnType<typeof selectImperfect>['execute']>>[number]

/** Empty for a fully playable recording, and where an operator hid the session. */
export function imperfectOf(row: ImperfectRow): ImperfectRecording[] {
  const { kind, streamer, date, sessionId, version } = row
  const session = { streamer, date, sessionId }
  const state = stateOf(row)
  const path = joinPath(row.folder, row.name)
  return state ? [{ path, kind, session, state, version }] : []
}

/** Undefined for a fully playable recording, and where an operator hid the session. */
function stateOf(row: ImperfectRow): ImperfectState | undefined {
  if (row.reason !== null) {
    const reason = parseStoredReason(row.reason)
    return reason && { status: 'unplayable', reason }
  }
  if (row.listed === 1) return row.flawed === 1 ? { status: 'limited' } : undefined
  if (row.servedFolder === null || row.servedName === null) return undefined
  return { status: 'duplicate', servedPath: joinPath(row.servedFolder, row.servedName) }
}

/** All recordings with what `imperfectOf` needs. */
export function selectImperfect(kysely: Kysely<CatalogSchema>) {
  return kysely
    .selectFrom('recordings')
    .innerJoin('folders', 'folders.id', 'recordings.folder_id')
    .innerJoin('streamers', 'streamers.id', 'recordings.streamer_id')
    .leftJoin('recordings as served', (join) =>
      join
        .onRef('served.streamer_id', '=', 'recordings.streamer_id')
        .onRef('served.date', '=', 'recordings.date')
        .onRef('served.session_id', '=', 'recordings.session_id')
        .on('served.listed', '=', 1),
    )
    .leftJoin('folders as served_folders', 'served_folders.id', 'served.folder_id')
    .select([
      'folders.path as folder',
      'recordings.name as name',
      'recordings.kind as kind',
      'recordings.reason as reason',
      'recordings.flawed as flawed',
      'recordings.listed as listed',
      'recordings.version as version',
      'streamers.name as streamer',
      'recordings.date as date',
      'recordings.session_id as sessionId',
      'served_folders.path as servedFolder',
      'served.name as servedName',
    ])
}

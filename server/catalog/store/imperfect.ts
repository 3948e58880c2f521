// The recordings that visitors do not get, or not as they were meant: for `aftercast check`.
import type { SessionReference } from '../../../shared/paths.ts'
import type { Database } from './database.ts'
import { joinPath } from '../names/library-path.ts'

/** A recording that is not fully playable. */
export interface ImperfectRecording {
  path: string
  kind: 'file' | 'folder'
  session: SessionReference
  state: ImperfectState
}

/**
 * `unplayable`: cannot be played; `flawed`: plays, but something of it is missing or damaged;
 * `spare`: another recording stands for the same session.
 */
export type ImperfectState =
  | { status: 'unplayable'; reason: string }
  | { status: 'flawed' }
  | { status: 'spare'; servedPath: string }

/** All of them, sorted by path. Reads the whole table: not for requests. */
export function listImperfect(database: Database): ImperfectRecording[] {
  return prepareImperfect(database)
    .all({})
    .flatMap((row): ImperfectRecording[] => {
      const { kind, streamer, date, sessionId } = row
      const session = { streamer, date, sessionId }
      const state = stateOf(row)
      return state ? [{ path: joinPath(row.folder, row.name), kind, session, state }] : []
    })
}

type ImperfectRow = ReturnType<ReturnType<typeof prepareImperfect>['all']>[number]

/** Undefined where all is well, or an operator took the session off the site. */
function stateOf(row: ImperfectRow): ImperfectState | undefined {
  if (row.reason !== null) return { status: 'unplayable', reason: row.reason }
  if (row.listed === 1) return row.flawed === 1 ? { status: 'flawed' } : undefined
  if (row.servedFolder === null || row.servedName === null) return undefined
  return { status: 'spare', servedPath: joinPath(row.servedFolder, row.servedName) }
}

function prepareImperfect(database: Database) {
  return database.prepare<object>()((kysely) =>
    kysely
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
        'streamers.name as streamer',
        'recordings.date as date',
        'recordings.session_id as sessionId',
        'served_folders.path as servedFolder',
        'served.name as servedName',
      ])
      .where((recording) =>
        recording.or([
          recording('recordings.listed', '=', 0),
          recording('recordings.flawed', '=', 1),
        ]),
      )
      .orderBy('folders.path')
      .orderBy('recordings.name'),
  )
}

// The recordings that are unplayable, partly playable or not served: all of them for `aftercast
// check`, and the query of each of them.
import type { SessionReference } from '../../../../shared/paths.ts'
import type { Problem, UnplayableReason } from '../../../base/problem.ts'
import { joinPath } from '../../../storage/recordings/library-path.ts'
import type { Database } from './database.ts'
import { selectColumns } from './recording-columns.ts'
import type { RecordingPath, Values } from './recording-columns.ts'
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

/** Undefined where its index has the limitations. */
export function problemOf(state: ImperfectState): Problem | undefined {
  if (state.status === 'unplayable') return state.reason
  if (state.status === 'limited') return undefined
  return { code: 'duplicate', servedPath: state.servedPath }
}

/** Sorted by path. Reads the whole table: not for requests. */
export function listImperfect(database: Database): ImperfectRecording[] {
  const query = database.query<object, ImperfectRow>(`
    ${selectImperfect} WHERE recordings.listed = 0 OR recordings.flawed = 1
    ORDER BY folders.path, recordings.name`)
  return query.all({}).flatMap(imperfectOf)
}

export type ImperfectRow = RecordingPath &
  SessionReference &
  Values<'kind' | 'reason' | 'flawed' | 'version'> & {
    listed: number
    servedFolder: string | null
    servedName: string | null
  }

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

/** All recordings as an `ImperfectRow`. */
export const selectImperfect = `
  SELECT folders.path AS folder, recordings.name, streamers.name AS streamer,
    ${selectColumns(['date', 'sessionId', 'kind', 'reason', 'flawed', 'version'])},
    recordings.listed, served_folders.path AS "servedFolder", served.name AS "servedName"
  FROM recordings
  JOIN folders ON folders.id = recordings.folder_id
  JOIN streamers ON streamers.id = recordings.streamer_id
  LEFT JOIN recordings AS served ON served.streamer_id = recordings.streamer_id
    AND served.date = recordings.date AND served.session_id = recordings.session_id
    AND served.listed = 1
  LEFT JOIN folders AS served_folders ON served_folders.id = served.folder_id`

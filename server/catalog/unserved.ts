// The recordings that no visitor gets: for `aftercast check`, which names each with its reason.
import type { Database } from './database.ts'
import { joinPath } from './library-path.ts'

/** `unplayable`: cannot be played; `spare`: another file stands for the same session. */
export type UnservedRecording =
  | { status: 'unplayable'; path: string; reason: string }
  | { status: 'spare'; path: string; servedPath: string }

/** All of them, sorted by path. Reads the whole table: not for requests. */
export function listUnserved(database: Database): UnservedRecording[] {
  const query = database.prepare<object>()((kysely) =>
    kysely
      .selectFrom('recordings')
      .innerJoin('folders', 'folders.id', 'recordings.folder_id')
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
        'recordings.reason as reason',
        'served_folders.path as servedFolder',
        'served.name as servedName',
      ])
      .where('recordings.listed', '=', 0)
      .orderBy('folders.path')
      .orderBy('recordings.name'),
  )
  return query.all({}).flatMap((row): UnservedRecording[] => {
    const path = joinPath(row.folder, row.name)
    if (row.reason !== null) return [{ status: 'unplayable', path, reason: row.reason }]
    if (row.servedFolder === null || row.servedName === null) return []
    return [{ status: 'spare', path, servedPath: joinPath(row.servedFolder, row.servedName) }]
  })
}

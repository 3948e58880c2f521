// Queries of the catalog's write side for titles: which sidecars must be read, and what is in them.
import type { Database } from './database.ts'
import type { RecordingPath, Values } from './recording-columns.ts'

export type TitleQueries = ReturnType<typeof prepareTitleQueries>

export function prepareTitleQueries(database: Database) {
  return {
    sign: database.query<{ id: number; sidecars: string }>(
      'UPDATE recordings SET sidecars = @sidecars WHERE id = @id',
    ),
    // The condition of the partial index `recordings_untitled`, which SQLite uses only then.
    untitled: database.query<
      { limit: number },
      RecordingPath & Values<'kind' | 'sidecars'> & { id: number }
    >(`
      SELECT recordings.id, folders.path AS folder, recordings.name, kind, sidecars
      FROM recordings JOIN folders ON folders.id = recordings.folder_id
      WHERE recordings.sidecars <> recordings.titled_by AND recordings.listed = 1
      ORDER BY date DESC LIMIT @limit`),
    record: database.query<{ id: number } & Values<'facts' | 'titledBy'>>(
      'UPDATE recordings SET facts = @facts, titled_by = @titledBy WHERE id = @id',
    ),
  }
}

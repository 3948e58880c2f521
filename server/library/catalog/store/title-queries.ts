// Queries of the catalog's write side for titles: which sidecars must be read, and what is in them.
import { sql } from 'kysely'
import type { Database } from './database.ts'

export type TitleQueries = ReturnType<typeof prepareTitleQueries>

interface TitleParameters {
  id: number
  title: string | null
  startsAtMs: number | null
  sidecars: string
}

export function prepareTitleQueries(database: Database) {
  return {
    sign: database.prepare<{ id: number; sidecars: string }>()((kysely, parameter) =>
      kysely
        .updateTable('recordings')
        .set({ sidecars: parameter('sidecars') })
        .where('id', '=', parameter('id')),
    ),
    untitled: database.prepare<{ limit: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .innerJoin('folders', 'folders.id', 'recordings.folder_id')
        .select(['recordings.id', 'folders.path as folder', 'recordings.name', 'kind', 'sidecars'])
        .where(isUntitled)
        .orderBy('date', 'desc')
        .limit(parameter('limit')),
    ),
    record: database.prepare<TitleParameters>()((kysely, parameter) =>
      kysely
        .updateTable('recordings')
        .set({
          title: parameter('title'),
          starts_at_ms: parameter('startsAtMs'),
          titled_by: parameter('sidecars'),
        })
        .where('id', '=', parameter('id')),
    ),
  }
}

/** As in the partial index `recordings_untitled`, which SQLite uses only for equal terms. */
const isUntitled = sql<boolean>`recordings.sidecars <> recordings.titled_by
  and recordings.listed = 1`

// Which library a catalog is of, so that no command fills it with another one.
import type { Database } from './database.ts'

/** Null before the first scan. */
export interface CatalogOrigin {
  /** Folder or URL of the recordings. */
  location: string | null
  /** Identity of the layout with which the sessions were named. */
  layout: string | null
  /** Whether it is a replica of a shared database. */
  isReplica: boolean
  /** Whether it has no recording. */
  isEmpty: boolean
}

type LibraryColumns = Partial<Pick<CatalogOrigin, 'location' | 'layout'>>

/** Also reads a catalog that is not migrated, which has fewer tables and columns. */
export function readOrigin(database: Database): CatalogOrigin {
  const listed = database.query<object, { name: string }>(
    `SELECT name FROM sqlite_master WHERE type = 'table'`,
  )
  const tables = new Set(listed.all({}).map(({ name }) => name))
  const firstOf = (table: 'library' | 'replica' | 'recordings') =>
    tables.has(table)
      ? database.query<object, LibraryColumns>(`SELECT * FROM ${table} LIMIT 1`).get({})
      : undefined
  const { location = null, layout = null } = firstOf('library') ?? {}
  const isReplica = firstOf('replica') !== undefined
  return { location, layout, isReplica, isEmpty: firstOf('recordings') === undefined }
}

/** Returns the location before. */
export function setLocation(database: Database, location: string): string | null {
  const { location: before } = readOrigin(database)
  if (before === location) return before
  database.query<{ location: string }>('UPDATE library SET location = @location').run({ location })
  return before
}

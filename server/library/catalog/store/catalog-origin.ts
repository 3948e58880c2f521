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

export function readOrigin(database: Database): CatalogOrigin {
  const library = database.query<object, Pick<CatalogOrigin, 'location' | 'layout'>>(
    'SELECT location, layout FROM library',
  )
  const exists = database.query<object, { replica: number; recording: number }>(`
    SELECT EXISTS (SELECT 1 FROM replica) AS replica,
      EXISTS (SELECT 1 FROM recordings) AS recording`)
  const { location = null, layout = null } = library.get({}) ?? {}
  const found = exists.get({})
  return { location, layout, isReplica: found?.replica === 1, isEmpty: found?.recording !== 1 }
}

/** Returns the location before. */
export function setLocation(database: Database, location: string): string | null {
  const { location: before } = readOrigin(database)
  if (before === location) return before
  database.query<{ location: string }>('UPDATE library SET location = @location').run({ location })
  return before
}

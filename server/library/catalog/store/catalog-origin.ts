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
  const library = database.prepare<object>()((kysely) =>
    kysely.selectFrom('library').select(['location', 'layout']),
  )
  const replica = database.prepare<object>()((kysely) =>
    kysely.selectFrom('replica').select('identity'),
  )
  const first = database.prepare<object>()((kysely) =>
    kysely.selectFrom('recordings').select('id').limit(1),
  )
  const { location = null, layout = null } = library.get({}) ?? {}
  const [isReplica, isEmpty] = [replica.get({}) !== undefined, first.get({}) === undefined]
  return { location, layout, isReplica, isEmpty }
}

/** Returns the location before. */
export function setLocation(database: Database, location: string): string | null {
  const { location: before } = readOrigin(database)
  if (before === location) return before
  const update = database.prepare<{ location: string }>()((kysely, parameter) =>
    kysely.updateTable('library').set({ location: parameter('location') }),
  )
  update.run({ location })
  return before
}

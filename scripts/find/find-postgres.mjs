// Finds PostgreSQL and PgBouncer on this machine.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { findProgram } from './find-program.mjs'

/** Debian's folder of servers, one per version. */
const servers = '/usr/lib/postgresql'

/**
 * Folder of `postgres` and `initdb`, or undefined. AFTERCAST_POSTGRES, the path of `postgres`,
 * overrides the search.
 * @returns {string | undefined}
 */
export function findPostgres() {
  const places = existsSync(servers)
    ? readdirSync(servers).map((version) => path.join(servers, version, 'bin', 'postgres'))
    : []
  const found = findProgram({ variables: ['AFTERCAST_POSTGRES'], names: ['postgres'], places })
  return found && path.dirname(found)
}

/**
 * Path of PgBouncer, or undefined. AFTERCAST_PGBOUNCER overrides the search.
 * @returns {string | undefined}
 */
export function findPgBouncer() {
  return findProgram({
    variables: ['AFTERCAST_PGBOUNCER'],
    names: ['pgbouncer'],
    places: ['/usr/sbin/pgbouncer'],
  })
}

// The row of the shared database that orders all changes: generations, scanning node, secret.
import { z } from 'zod'
import type { SharedDatabase } from './shared-database.ts'
import { rawSql, sql } from './sql.ts'
import type { Queryable } from './sql.ts'

/** How long a node may scan without a sign of life. */
const LEASE_SECONDS = 15

export const libraryShape = z.object({
  identity: z.string().min(1),
  /**
   * Start time of the server, and the file of this table. A server that restarts, and more so a
   * standby that takes over, may have lost the last changes, and gives their generations to others.
   * So does a backup, whose restore writes the table to another file.
   */
  epoch: z.string().min(1),
  generation: z.int().min(1),
  /** Deletions up to this generation are no longer recorded. */
  completeSince: z.int().min(0),
  /** Identity of the layout; null before the first scan. */
  layout: z.string().nullable(),
  /** Whether a walk of the whole library has been published. */
  isWalked: z.boolean(),
  /** Token of the process that scans, or did. */
  scanner: z.string().nullable(),
  /** Whether another process may scan. */
  isVacant: z.boolean(),
})

/** State of the shared library at one generation. */
export type SharedLibrary = z.infer<typeof libraryShape>

/** Columns of a SharedLibrary. */
export const libraryColumns = rawSql(`
  identity, extract(epoch FROM pg_postmaster_start_time())::text || ' ' ||
    pg_relation_filenode('aftercast.library')::text AS epoch,
  generation::float8 AS generation, complete_since::float8 AS "completeSince", layout,
  is_walked AS "isWalked", scanner,
  scanner IS NULL OR scanner_until < clock_timestamp() AS "isVacant"`)

export async function readLibrary(database: SharedDatabase): Promise<SharedLibrary> {
  return sql`SELECT ${libraryColumns} FROM aftercast.library`.row(database, libraryShape)
}

/** Whether a site has stored anything in the database. */
export async function isUsed(database: SharedDatabase): Promise<boolean> {
  const { used } = await sql`
    SELECT EXISTS (SELECT FROM aftercast.recordings) OR EXISTS (SELECT FROM aftercast.hidden)
      OR EXISTS (SELECT FROM aftercast.daily_counts) AS used`.row(
    database,
    z.object({ used: z.boolean() }),
  )
  return used
}

/** Makes a process the scanning one if there is none; returns whether it is. */
export async function claimScan(database: SharedDatabase, token: string): Promise<boolean> {
  const { rows } = await sql`
    UPDATE aftercast.library SET scanner = ${token}, scanner_until = ${untilNext}
    WHERE scanner IS NULL OR scanner_until < clock_timestamp() RETURNING id`.execute(database)
  return rows.length > 0
}

/**
 * Extends the claim with another token; returns false if another process has taken it. An expired
 * claim can be extended, too: after an outage of the database the node that scanned continues.
 */
export async function renewScan(
  database: Queryable,
  token: string,
  next = token,
): Promise<boolean> {
  const { rows } = await sql`
    UPDATE aftercast.library SET scanner = ${next}, scanner_until = ${untilNext}
    WHERE scanner = ${token} RETURNING id`.execute(database)
  return rows.length > 0
}

/** By more than the generations that one node may have seen before another. */
const GENERATIONS_APART = 1_000_000_000

/**
 * Continues the generations of a restored backup after those that any node has seen. Otherwise they
 * would be given to other changes, and no node could see which ones it lacks. All nodes compare
 * their rows then.
 */
export async function continueAfter(
  database: SharedDatabase,
  { identity, generation }: Pick<SharedLibrary, 'identity' | 'generation'>,
): Promise<void> {
  const next = generation + GENERATIONS_APART
  await sql`
    UPDATE aftercast.library SET generation = ${next}::bigint, complete_since = ${next}::bigint
    WHERE identity = ${identity} AND generation < ${generation}::bigint`.execute(database)
}

/** Ends the claim, so that another node can scan at once. */
export async function releaseScan(database: SharedDatabase, token: string): Promise<void> {
  await sql`
    UPDATE aftercast.library SET scanner = NULL, scanner_until = NULL
    WHERE scanner = ${token}`.execute(database)
}

/** What the scanning process has found out about the whole library. */
export async function describeLibrary(
  database: Queryable,
  token: string,
  { layout, isWalked }: { layout: string; isWalked: boolean },
): Promise<void> {
  await sql`
    UPDATE aftercast.library SET layout = ${layout}, is_walked = is_walked OR ${isWalked}
    WHERE scanner = ${token}`.execute(database)
}

/** The HLS secret of all nodes: the first candidate that a node offers. */
export async function agreeOnSecret(database: Queryable, candidate: string): Promise<string> {
  const { secret } = await sql`
    UPDATE aftercast.library SET secret = coalesce(secret, ${candidate})
    RETURNING secret`.row(database, z.object({ secret: z.string().min(1) }))
  return secret
}

const untilNext = rawSql(`clock_timestamp() + interval '${LEASE_SECONDS} seconds'`)

/** For a statement that publishes: draws the next generation if the process is the scanning one. */
export function nextGeneration(token: string) {
  return sql`
    UPDATE aftercast.library SET generation = generation + 1, scanner_until = ${untilNext}
    WHERE scanner = ${token} RETURNING generation`
}

// Recordings in the shared database: published by the scanning node, read by all others in the
// order of generations, or by path for a snapshot.
import { z } from 'zod'
import {
  columnNames,
  columnsOf,
  recordingColumns,
  recordingShape,
} from '../../library/catalog/store/recording-columns.ts'
import type {
  RecordingPath,
  SharedRecording,
} from '../../library/catalog/store/recording-columns.ts'
import { nextGeneration } from './library-row.ts'
import { inIndexOrder } from './shared-database.ts'
import type { SharedDatabase } from './shared-database.ts'
import { rawSql, sql } from './sql.ts'

const changeShape = recordingShape
  .extend({ generation: z.int(), isGone: z.boolean() })
  .refine(({ status, durationSeconds, reason }) => {
    return (
      (status === 'playable') === (durationSeconds !== null) &&
      (status === 'unplayable') === (reason !== null)
    )
  })

/** What differs from SQLite, which has ids of these. */
const names = ['folder', 'name', 'streamer'] as const
const keys = [...names, ...columnsOf()]
const stored = [...names, columnNames(columnsOf())].join(', ')

/** The driver returns a bigint as a string. */
const columns = rawSql(
  [
    ...names,
    ...columnsOf().map((key) => {
      const { column, type } = recordingColumns[key]
      return `${column}${type === 'bigint' ? '::float8' : ''} AS "${key}"`
    }),
    'generation::float8 AS generation',
    'removed_at IS NOT NULL AS "isGone"',
  ].join(', '),
)

/** Changes up to a generation. Rows that are not valid are skipped, and only counted. */
export interface SharedChanges {
  present: SharedRecording[]
  gone: RecordingPath[]
  /** All changes up to this generation are contained. */
  upTo: number
  invalid: number
}

/** Most rows of one generation, so that `limit` of `readChanges` can be higher. */
export const ROWS_PER_GENERATION = 500

/**
 * Publishes rows as one generation, which is returned; undefined if the process no longer is the
 * scanning one. At most ROWS_PER_GENERATION rows. One statement, so that a node that stops in the
 * middle holds no lock.
 */
export async function publishRecordings(
  database: SharedDatabase,
  token: string,
  { present, gone }: { present: readonly SharedRecording[]; gone: readonly RecordingPath[] },
): Promise<number | undefined> {
  const [next] = await sql`
    WITH next AS (${nextGeneration(token)}),
    put AS (
      INSERT INTO aftercast.recordings (${rawSql(stored)}, generation, removed_at)
      SELECT ${rawSql(published)}, next.generation, NULL
      FROM next, json_to_recordset(${JSON.stringify(present)}::json) AS given (${rawSql(given)})
      ON CONFLICT (folder, name) DO UPDATE SET ${rawSql(replaced)}),
    gone AS (
      UPDATE aftercast.recordings AS known
      SET generation = next.generation, removed_at = clock_timestamp()
      FROM next, json_to_recordset(${JSON.stringify(gone)}::json) AS given (folder text, name text)
      WHERE known.folder = given.folder AND known.name = given.name AND known.removed_at IS NULL)
    SELECT generation::float8 AS generation FROM next`.rows(database, generationShape)
  return next?.generation
}

/** The JSON of a row, and what it replaces. */
const published = keys.map((key) => `given."${key}"`).join(', ')
const given = [
  ...names.map((key) => `"${key}" text`),
  ...columnsOf().map((key) => `"${key}" ${recordingColumns[key].type}`),
].join(', ')
const replaced = `${stored}, generation, removed_at`
  .split(', ')
  .map((column) => `${column} = excluded.${column}`)
  .join(', ')

/**
 * Changes after one generation, at most `limit` rows, in whole generations up to another.
 * `limit` is at least twice ROWS_PER_GENERATION.
 */
export async function readChanges(
  database: SharedDatabase,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<SharedChanges> {
  const statement = sql`
    SELECT ${columns} FROM aftercast.recordings
    WHERE generation > ${after} AND generation <= ${upTo}
    ORDER BY generation LIMIT ${limit}`
  const hasPages = (upTo - after) * ROWS_PER_GENERATION > limit
  const rows = hasPages
    ? await inIndexOrder(database, statement)
    : (await statement.execute(database)).rows
  if (rows.length < limit) return { ...parseRows(rows), upTo }
  // The last generation may be incomplete.
  const last = generationShape.parse(rows.at(-1)).generation
  const complete = rows.filter((row) => generationShape.parse(row).generation < last)
  return { ...parseRows(complete), upTo: last - 1 }
}

const generationShape = z.object({ generation: z.int() })

/** Existing recordings after a path in byte order, and the last path that was read, if any. */
export async function readPage(
  database: SharedDatabase,
  after: RecordingPath,
  limit: number,
): Promise<{ present: SharedRecording[]; upTo: RecordingPath | undefined; invalid: number }> {
  const rows = await inIndexOrder(
    database,
    sql`
      SELECT ${columns} FROM aftercast.recordings
      WHERE (folder, name) > (${after.folder}, ${after.name}) AND removed_at IS NULL
      ORDER BY folder, name LIMIT ${limit}`,
  )
  const { present, invalid } = parseRows(rows)
  const isLast = rows.length < limit
  return { present, invalid, upTo: isLast ? undefined : pathShape.parse(rows.at(-1)) }
}

const pathShape = z.object({ folder: z.string(), name: z.string() })

/** The recordings with these paths, as far as they exist. */
export async function readByPath(
  database: SharedDatabase,
  paths: readonly RecordingPath[],
): Promise<SharedRecording[]> {
  const { rows } = await sql`
    SELECT ${columns} FROM aftercast.recordings
    JOIN json_to_recordset(${JSON.stringify(paths)}::json) AS given (folder text, name text)
      USING (folder, name)
    WHERE removed_at IS NULL`.execute(database)
  return parseRows(rows).present
}

/** Deletions that are older than this are no longer recorded. */
const RECORD_DELETIONS = rawSql(`interval '1 day'`)

/** Bounds how long the row of the library is locked. */
const PRUNED_ROWS = 5000

/** Ends the record of old deletions, also of hidden names. Returns whether some are left. */
export async function pruneDeletions(database: SharedDatabase, token: string): Promise<boolean> {
  const [result] = await sql`
    WITH claimed AS (SELECT id FROM aftercast.library WHERE scanner = ${token} FOR UPDATE),
    recordings AS (
      DELETE FROM aftercast.recordings USING claimed WHERE recordings.ctid = ANY (ARRAY(
        SELECT ctid FROM aftercast.recordings
        WHERE removed_at < clock_timestamp() - ${RECORD_DELETIONS}
        ORDER BY removed_at LIMIT ${PRUNED_ROWS})) RETURNING generation),
    hidden AS (
      DELETE FROM aftercast.hidden USING claimed
      WHERE removed_at < clock_timestamp() - ${RECORD_DELETIONS} RETURNING generation),
    last AS (
      SELECT max(generation) AS generation
      FROM (SELECT generation FROM recordings UNION ALL SELECT generation FROM hidden) AS pruned)
    UPDATE aftercast.library SET complete_since = greatest(complete_since, last.generation)
    FROM last WHERE last.generation IS NOT NULL
    RETURNING (SELECT count(*) FROM recordings)::int AS pruned`.rows(
    database,
    z.object({ pruned: z.int() }),
  )
  return result?.pruned === PRUNED_ROWS
}

function parseRows(rows: readonly unknown[]): Omit<SharedChanges, 'upTo'> {
  const present: SharedRecording[] = []
  const gone: RecordingPath[] = []
  let invalid = 0
  for (const row of rows) {
    const { data } = changeShape.safeParse(row)
    if (data === undefined) invalid += 1
    else if (data.isGone) gone.push({ folder: data.folder, name: data.name })
    else {
      const { generation: _, isGone: __, ...recording } = data
      present.push(recording)
    }
  }
  return { present, gone, invalid }
}

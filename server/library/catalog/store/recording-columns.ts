// The columns of a recording: the statements of the catalog, of replicas and of the shared database
// derive from this table. A new column also needs a step in both migrations.
import { z } from 'zod'

/** Identifies a recording on all nodes. */
export interface RecordingPath {
  /** As spelled in storage; '' for the root. */
  folder: string
  name: string
}

/**
 * Who writes a column in the catalog that scans: the walk when it finds the recording new or
 * changed, which also resets those of the inspection; the inspection; the reader of sidecars.
 */
type Writer = 'walk' | 'inspection' | 'sidecars'

interface Column<W extends Writer, Shape extends z.ZodType> {
  /** In SQLite and in PostgreSQL. */
  column: string
  /** In PostgreSQL; SQLite has the types of its migrations. */
  type: 'text' | 'integer' | 'bigint' | 'double precision'
  writer: W
  /** Of a value, as read from the shared database. */
  shape: Shape
}

function column<const W extends Writer, Shape extends z.ZodType>(
  writer: W,
  name: string,
  [type, shape]: readonly [Column<W, Shape>['type'], Shape],
): Column<W, Shape> {
  return { column: name, type, writer, shape }
}

/** A component of a path: no separator, nothing that leaves the folder. */
const component = '(?!\\.{1,2}(?:/|$))[^/\\0]+'
const nameShape = z.string().regex(new RegExp(`^${component}$`))
const folderShape = z.string().regex(new RegExp(`^(?:${component}(?:/${component})*)?$`))

const text = ['text', z.string()] as const
const name = ['text', nameShape] as const
const milliseconds = ['bigint', z.int()] as const

/**
 * All that the shared database has of a recording besides its path and streamer, which SQLite has
 * as ids. `listed` is derived on each node.
 */
export const recordingColumns = {
  /** Names of the session, in NFC. */
  date: column('walk', 'date', name),
  sessionId: column('walk', 'session_id', name),
  kind: column('walk', 'kind', ['text', z.enum(['file', 'folder'])]),
  /** Among the recordings of one session (recording-name.ts). */
  rank: column('walk', 'rank', ['integer', z.int()]),
  sizeBytes: column('walk', 'size_bytes', ['bigint', z.int().min(0)]),
  modifiedMs: column('walk', 'modified_ms', milliseconds),
  /** `FileStat.version`; empty in a row of an older release. */
  version: column('walk', 'version', text),
  /** When the file counts as finished, unless it changes again. */
  settlesAtMs: column('walk', 'settles_at_ms', milliseconds),
  status: column('inspection', 'status', ['text', z.enum(['found', 'playable', 'unplayable'])]),
  /** Null unless playable. */
  durationSeconds: column('inspection', 'duration_seconds', [
    'double precision',
    z.number().nullable(),
  ]),
  /** Start by the recording and its names: sidecars know better. Null if unknown. */
  recordedStartMs: column('inspection', 'recorded_start_ms', ['bigint', z.int().nullable()]),
  /** JSON of an UnplayableReason (stored-reason.ts); null unless unplayable. */
  reason: column('inspection', 'reason', ['text', z.string().nullable()]),
  /** 1 if it plays with limitations. */
  flawed: column('inspection', 'flawed', ['integer', z.int().min(0).max(1)]),
  /** Earliest time of the next inspection. */
  retryAtMs: column('inspection', 'retry_at_ms', milliseconds),
  /** The same even after a change: limits the cost of growing files. */
  restUntilMs: column('inspection', 'rest_until_ms', milliseconds),
  /** Consecutive inspections that failed for a reason outside of the recording. */
  attempts: column('inspection', 'attempts', ['integer', z.int().min(0)]),
  /** Signature of the sidecars with text (text-sidecars.ts), empty without any. */
  sidecars: column('sidecars', 'sidecars', text),
  /** The signature of those that `facts` are from. */
  titledBy: column('sidecars', 'titled_by', text),
  /** JSON of what the sidecars contain (stored-facts.ts). */
  facts: column('sidecars', 'facts', text),
}

type Columns = typeof recordingColumns
export type ColumnKey = keyof Columns

/** A row of the shared database. */
export const recordingShape = z.object({
  folder: folderShape,
  name: nameShape,
  streamer: nameShape,
  ...shapesOf(recordingColumns),
})

/** The shape of each column. */
function shapesOf<C extends Record<string, { shape: z.ZodType }>>(columns: C) {
  const shapes = Object.entries(columns).map(([key, { shape }]) => [key, shape])
  // Each key has the shape of its column.
  return Object.fromEntries(shapes) as { [K in keyof C]: C[K]['shape'] }
}

/** The values of some columns. */
export type Values<Key extends ColumnKey> = { [K in Key]: z.output<Columns[K]['shape']> }

/** The values of the columns with this writer. */
export type WrittenBy<W extends Writer> = Values<
  { [K in ColumnKey]: Columns[K]['writer'] extends W ? K : never }[ColumnKey]
>

/** A recording without its path and streamer. */
export type RecordingValues = Values<ColumnKey>

/** A recording as the shared database has it: without ids, and without what each node derives. */
export interface SharedRecording extends RecordingPath, RecordingValues {
  streamer: string
}

const keys = Object.keys(recordingColumns).filter(isColumnKey)

function isColumnKey(key: string): key is ColumnKey {
  return key in recordingColumns
}

/** The columns with these writers; without an argument all. */
export function columnsOf(...writers: Writer[]): ColumnKey[] {
  return keys.filter(
    (key) => writers.length === 0 || writers.includes(recordingColumns[key].writer),
  )
}

/** `date, session_id`. */
export function columnNames(columns: readonly ColumnKey[]): string {
  return columns.map((key) => recordingColumns[key].column).join(', ')
}

/** `@date, @sessionId`: the parameters of `columnNames`. */
export function columnParameters(columns: readonly ColumnKey[]): string {
  return columns.map((key) => `@${key}`).join(', ')
}

/** `date = @date, session_id = @sessionId`. */
export function columnAssignments(columns: readonly ColumnKey[]): string {
  return columns.map((key) => `${recordingColumns[key].column} = @${key}`).join(', ')
}

/** `recordings.date AS "date", recordings.session_id AS "sessionId"`. */
export function selectColumns(columns: readonly ColumnKey[]): string {
  return columns.map((key) => `recordings.${recordingColumns[key].column} AS "${key}"`).join(', ')
}

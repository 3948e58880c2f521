// Stores the starts in names again: of recordings that an older release inspected, and after a
// change of the time zone in which names without one are read.
import { startOfNames } from '../names/start-time.ts'
import { createChangeLog } from './change-log.ts'
import type { ChangeLog } from './change-log.ts'
import type { Database } from './database.ts'
import { selectColumns } from './recording-columns.ts'
import type { Values } from './recording-columns.ts'

/** Rows per transaction, which bounds how long the event loop is blocked. */
const READ_AT_ONCE = 200
const NAMED = ['date', 'sessionId', 'kind', 'recordedStartMs'] as const

export class NamedStarts {
  readonly #queries: ReturnType<typeof prepareQueries>
  readonly #changes: ChangeLog
  #after = 0
  #hasChanged = false

  constructor(database: Database) {
    this.#queries = prepareQueries(database)
    this.#changes = createChangeLog(database)
  }

  /** Returns whether it is done: each call is a short step. Call inside of a transaction. */
  useZone(zone: string): boolean {
    const { known, playable, record, setZone } = this.#queries
    if (known.get({})?.zone === zone) return true
    const rows = playable.all({ after: this.#after, limit: READ_AT_ONCE })
    for (const row of rows) {
      const startMs = startOfNames(row) ?? null
      // The start of a folder may be that of its first part.
      const isOfNames = row.kind === 'file' || row.recordedStartMs === null
      if (!isOfNames || startMs === row.recordedStartMs) continue
      record.run({ id: row.id, startMs })
      this.#hasChanged = true
    }
    this.#after = rows.at(-1)?.id ?? 0
    if (rows.length > 0) return false
    setZone.run({ zone })
    if (this.#hasChanged) this.#changes.write('all')
    return true
  }
}

function prepareQueries(database: Database) {
  return {
    known: database.query<object, { zone: string | null }>('SELECT zone FROM library'),
    setZone: database.query<{ zone: string }>('UPDATE library SET zone = @zone'),
    playable: database.query<
      { after: number; limit: number },
      Values<(typeof NAMED)[number]> & { id: number; name: string }
    >(`
      SELECT id, name, ${selectColumns(NAMED)} FROM recordings
      WHERE id > @after AND status = 'playable' ORDER BY id LIMIT @limit`),
    record: database.query<{ id: number; startMs: number | null }>(
      'UPDATE recordings SET recorded_start_ms = @startMs WHERE id = @id',
    ),
  }
}

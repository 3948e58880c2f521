// What statements that change nothing have returned since the last change was committed: it is what
// they return again. Nodes poll more often than anything changes.
import type pg from 'pg'

export interface Statement {
  /** May read `clock_timestamp()` and `pg_postmaster_start_time()`. */
  text: string
  values: unknown[]
}

/** What a statement reads of the time, in Unix milliseconds. */
export interface ServerClock {
  nowMs: number
  startedMs: number
}

interface Read {
  result: pg.QueryResult
  untilMs: number
}

/** The only use of the clock in a read whose result is known for a while. */
const VACANCY = 'scanner_until < clock_timestamp() AS "isVacant"'
const VACANT_AT = `${VACANCY}, extract(epoch FROM scanner_until)::float8 * 1000 AS vacant_at`

/** Whether a statement changes nothing, and waits for no lock of a row. */
export function isRead({ text }: Statement): boolean {
  return /^\s*SELECT\b/i.test(text) && !/advisory|set_config|FOR UPDATE/.test(text)
}

/** Changes nothing if it has done so before, whatever its values. */
const IDLE = /CREATE TABLE IF NOT EXISTS|INSERT INTO aftercast\.library .* ON CONFLICT DO NOTHING$/s

export class CommittedReads {
  readonly #reads = new Map<string, Read>()

  /** A change was committed. */
  clear(): void {
    this.#reads.clear()
  }

  find(statement: Statement, clock: ServerClock): pg.QueryResult | undefined {
    const read = this.#reads.get(keyOf(statement, clock))
    return read !== undefined && clock.nowMs <= read.untilMs ? read.result : undefined
  }

  /** The statement to run so that `add` has how long its result is true. */
  prepare({ text, values }: Statement): Statement {
    return { text: text.replace(VACANCY, VACANT_AT), values }
  }

  /** Of a statement that has changed nothing. */
  add(statement: Statement, clock: ServerClock, result: pg.QueryResult): void {
    if (!isRead(statement) && !IDLE.test(statement.text)) return
    if (statement.text.replace(VACANCY, '').includes('clock_timestamp()')) return
    let untilMs = Infinity
    for (const row of result.rows) {
      if (row.isVacant === false) untilMs = row.vacant_at
      delete row.vacant_at
    }
    this.#reads.set(keyOf(statement, clock), { result, untilMs })
  }
}

function keyOf({ text, values }: Statement, { startedMs }: ServerClock): string {
  return JSON.stringify([text, IDLE.test(text) ? [] : values, startedMs])
}

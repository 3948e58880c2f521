// A real PostgreSQL under the control of a simulation: one statement at a time, and the clock of
// the simulation. Its transactions, locks and error codes are the real ones.
import pg from 'pg'
import { startPostgres } from '../support/servers/postgres.ts'
import { CommittedReads, isRead } from './committed-reads.ts'
import type { ServerClock, Statement } from './committed-reads.ts'
import { realTimers } from './real-timers.ts'
import type { StartedPostgres } from '../support/servers/postgres.ts'

export type Outcome =
  | { status: 'done'; result: pg.QueryResult }
  | { status: 'failed'; error: unknown }

/** A session of the server. */
export interface Backend {
  client: pg.Client
  pid: number
  isInTransaction: boolean
  /** The first statements of its transaction, while they have no effect: the server lacks them. */
  deferred: Statement[]
  /** What its transaction may have changed. */
  changed: 'nothing' | 'rows' | 'definitions'
}

interface Blocked {
  running: Promise<Outcome>
  onDone: (outcome: Outcome) => Promise<void>
}

/** Before a statement that takes longer is suspected to wait for a lock. */
const SUSPECTED_MS = 2
/** The fastest file system that every Linux has. */
const FOLDER = '/dev/shm'
// Plans and the order of rows must not depend on how long the server has been running.
const SETTINGS = ['autovacuum=off', 'plan_cache_mode=force_generic_plan', 'synchronous_commit=off']
// Other pools are simulated.
const RealClient = pg.Client

export class DatabaseServer {
  readonly #postgres: StartedPostgres
  readonly url: string
  readonly #control: pg.Client
  readonly #free: Backend[] = []
  readonly #used = new Set<Backend>()
  readonly #blocked = new Map<Backend, Blocked>()
  readonly #reads = new CommittedReads()
  /** By their text; a name for each on all sessions. */
  readonly #prepared = new Map<string, string>()

  private constructor(postgres: StartedPostgres, url: string, control: pg.Client) {
    this.#postgres = postgres
    this.url = url
    this.#control = control
  }

  static async start(): Promise<DatabaseServer> {
    const postgres = await startPostgres({ folder: FOLDER, settings: SETTINGS })
    const url = await postgres.createDatabase()
    return new DatabaseServer(postgres, url, await connect(url))
  }

  async stop(): Promise<void> {
    await this.#postgres.remove()
  }

  /** For the simulation itself, outside of all faults. No statement may wait for a lock. */
  async query(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
    if (!isRead({ text, values })) this.#reads.clear()
    return this.#control.query(text, values)
  }

  isBlocked(backend: Backend): boolean {
    return this.#blocked.has(backend)
  }

  async open(): Promise<Backend> {
    const backend = this.#free.pop() ?? (await openBackend(this.url))
    this.#used.add(backend)
    return backend
  }

  /**
   * Runs a statement. Resolves when it has ended, or waits for a lock of another session: `onDone`
   * is called then, or when that lock is free.
   */
  async execute(
    backend: Backend,
    { clock, ...statement }: Statement & { clock: ServerClock },
    onDone: Blocked['onDone'],
  ): Promise<void> {
    const known = this.#defer(backend, statement) ?? this.#find(backend, statement, clock)
    if (known !== undefined) return onDone({ status: 'done', result: known })
    if (isLock(statement)) await this.#sendLocks()
    const running = this.#run(backend, statement, clock)
    const outcome = await this.#settle(backend, running)
    if (outcome === undefined) {
      this.#blocked.set(backend, { running, onDone })
      return
    }
    await onDone(outcome)
    await this.#continueBlocked()
  }

  /** Ends the statement that waits for a lock. */
  async cancel(backend: Backend): Promise<void> {
    const blocked = this.#blocked.get(backend)
    if (blocked === undefined) return
    this.#blocked.delete(backend)
    await this.#control.query('SELECT pg_cancel_backend($1)', [backend.pid])
    await blocked.onDone(await blocked.running)
    await this.#continueBlocked()
  }

  /** The session has ended. */
  async release(backend: Backend): Promise<void> {
    if (!this.#used.delete(backend)) return
    await this.cancel(backend)
    if (isOpen(backend)) await backend.client.query('ROLLBACK')
    endTransaction(backend)
    this.#free.push(backend)
    await this.#continueBlocked()
  }

  async releaseAll(): Promise<void> {
    for (const backend of this.#used) await this.release(backend)
  }

  /** The result of a statement that has no effect until the next one is sent. */
  #defer(backend: Backend, statement: Statement): pg.QueryResult | undefined {
    const command = /^\s*(begin|commit|rollback)\s*$/i.exec(statement.text)?.[1]?.toUpperCase()
    if (command === 'BEGIN') {
      Object.assign(backend, { isInTransaction: true, deferred: [statement] })
      return resultOf(command)
    }
    if (backend.deferred.length === 0) return undefined
    if (command !== undefined) {
      endTransaction(backend)
      return resultOf(command)
    }
    const hasLocks = [...this.#used].some((other) => isOpen(other) || other.deferred.some(isLock))
    if (!isSetting(statement) && (!isLock(statement) || hasLocks)) return undefined
    backend.deferred.push(statement)
    return { ...resultOf('SELECT'), rowCount: 1, rows: [{}] }
  }

  /** Another session would wait for them. */
  async #sendLocks(): Promise<void> {
    for (const backend of this.#used) {
      if (!backend.deferred.some(isLock)) continue
      this.#sendDeferred(backend)
      await backend.client.query('')
    }
  }

  /** The next statement does not wait for the responses. */
  #sendDeferred({ client, deferred }: Backend): void {
    for (const statement of deferred.splice(0)) void client.query(statement)
  }

  /** What the statement has returned already, if nothing has changed since. */
  #find(backend: Backend, statement: Statement, clock: ServerClock): pg.QueryResult | undefined {
    // Definitions lock what others read.
    const isDefining = [...this.#used].some(({ changed }) => changed === 'definitions')
    if (backend.changed !== 'nothing' || isDefining) return undefined
    return this.#reads.find(statement, clock)
  }

  async #run(backend: Backend, statement: Statement, clock: ServerClock): Promise<Outcome> {
    const { client, deferred } = backend
    const isCommitted = backend.changed === 'nothing' && isRead(statement)
    // A read needs no transaction, which sees the same.
    if (!isCommitted || deferred.length > 1) this.#sendDeferred(backend)
    const sent = isCommitted ? this.#reads.prepare(statement) : statement
    try {
      const result = await client.query(this.#prepare(sent, clock))
      if (!isCommitted) this.#noteChange(backend, statement, result)
      if (backend.changed === 'nothing') this.#reads.add(statement, clock, result)
      return { status: 'done', result }
    } catch (error) {
      return { status: 'failed', error }
    }
  }

  #noteChange(backend: Backend, { text }: Statement, result: pg.QueryResult): void {
    const isEnd = /^\s*(?:commit|rollback)\s*$/i.test(text)
    if (!isEnd) backend.changed = changeOf(backend, text, result)
    if (isEnd || !backend.isInTransaction) {
      if (backend.changed !== 'nothing') this.#reads.clear()
      endTransaction(backend)
    }
  }

  /** With the clock as parameters, so that a statement is planned once. */
  #prepare({ text, values }: Statement, { nowMs, startedMs }: ServerClock): pg.QueryConfig {
    if (!/^\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(text)) return { text, values }
    const all = [...values]
    const onClock = [
      { name: 'clock_timestamp()', ms: nowMs },
      { name: 'pg_postmaster_start_time()', ms: startedMs },
    ].reduce((sql, { name, ms }) => {
      if (!sql.includes(name)) return sql
      all.push(new Date(ms).toISOString())
      return sql.replaceAll(name, `$${all.length}::timestamptz`)
    }, text)
    const name = this.#prepared.get(onClock) ?? `s${this.#prepared.size}`
    this.#prepared.set(onClock, name)
    return { name, text: onClock, values: all }
  }

  /** Undefined if it waits for a lock. */
  async #settle(backend: Backend, running: Promise<Outcome>): Promise<Outcome | undefined> {
    const hasOthers = [...this.#used].some((other) => other !== backend && isOpen(other))
    if (!hasOthers && this.#blocked.size === 0) return running
    for (;;) {
      const outcome = await Promise.race([running, realTimers.sleep(SUSPECTED_MS, undefined)])
      if (outcome !== undefined) return outcome
      if ((await this.#waiting()).has(backend.pid)) return undefined
    }
  }

  /** After locks may have been released: a lock is granted by the session that releases it. */
  async #continueBlocked(): Promise<void> {
    while (this.#blocked.size > 0) {
      const waiting = await this.#waiting()
      const entry = [...this.#blocked].find(([{ pid }]) => !waiting.has(pid))
      if (entry === undefined) return
      const [backend, { running, onDone }] = entry
      const outcome = await this.#settle(backend, running)
      if (outcome === undefined) continue
      this.#blocked.delete(backend)
      await onDone(outcome)
    }
  }

  async #waiting(): Promise<Set<number>> {
    const { rows } = await this.#control.query<{ pid: number }>(
      'SELECT pid FROM pg_locks WHERE NOT granted',
    )
    return new Set(rows.map(({ pid }) => pid))
  }
}

/** Whether the server has a transaction of the session. */
function isOpen({ isInTransaction, deferred }: Backend): boolean {
  return isInTransaction && deferred.length === 0
}

function endTransaction(backend: Backend): void {
  Object.assign(backend, { isInTransaction: false, deferred: [], changed: 'nothing' })
}

/** For the planner, within a transaction. */
function isSetting({ text }: Statement): boolean {
  return /^\s*SELECT set_config\(/.test(text)
}

function isLock({ text }: Statement): boolean {
  return /^\s*SELECT pg_advisory_xact_lock\(/.test(text)
}

function resultOf(command: string): pg.QueryResult {
  return { command, rowCount: null, rows: [], oid: 0, fields: [] }
}

/** What the transaction of a session has changed after a statement that is more than a read. */
function changeOf(
  { changed }: Backend,
  text: string,
  { command, rowCount }: pg.QueryResult,
): Backend['changed'] {
  const isNothing =
    /^\s*SELECT\b|IF NOT EXISTS/i.test(text) ||
    (rowCount === 0 && /^\s*(?:INSERT|UPDATE|DELETE)\b/i.test(text))
  if (isNothing) return changed
  return /^(?:CREATE|ALTER|DROP|TRUNCATE)/.test(command) ? 'definitions' : 'rows'
}

async function openBackend(url: string): Promise<Backend> {
  const client = await connect(url)
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const pid = rows[0]?.pid ?? 0
  return { client, pid, isInTransaction: false, deferred: [], changed: 'nothing' }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new RealClient({ connectionString: url, pipeline: true })
  // The server ends before its clients.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

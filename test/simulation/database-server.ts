// A real PostgreSQL under the control of a simulation: one statement at a time, and the clock of
// the simulation. Its transactions, locks and error codes are the real ones.
import pg from 'pg'
import { startPostgres } from '../support/servers/postgres.ts'
import { realTimers } from './real-timers.ts'
import type { StartedPostgres } from '../support/servers/postgres.ts'

export interface Statement {
  text: string
  values: unknown[]
}

export type Outcome =
  | { status: 'done'; result: pg.QueryResult }
  | { status: 'failed'; error: unknown }

/** A session of the server. */
export interface Backend {
  client: pg.Client
  pid: number
  isInTransaction: boolean
}

interface Blocked {
  running: Promise<Outcome>
  onDone: (outcome: Outcome) => Promise<void>
}

/** Before a statement that takes longer is suspected to wait for a lock. */
const SUSPECTED_MS = 2
// Other pools are simulated.
const RealClient = pg.Client

export class DatabaseServer {
  readonly #postgres: StartedPostgres
  readonly url: string
  readonly #control: pg.Client
  readonly #free: Backend[] = []
  readonly #used = new Set<Backend>()
  readonly #blocked = new Map<Backend, Blocked>()

  private constructor(postgres: StartedPostgres, url: string, control: pg.Client) {
    this.#postgres = postgres
    this.url = url
    this.#control = control
  }

  static async start(): Promise<DatabaseServer> {
    const postgres = await startPostgres()
    const url = await postgres.createDatabase()
    const control = await connect(url)
    // Plans and the order of rows must not depend on how long the server has been running.
    await control.query('ALTER SYSTEM SET autovacuum = off')
    await control.query('ALTER SYSTEM SET synchronous_commit = off')
    await control.query('SELECT pg_reload_conf()')
    return new DatabaseServer(postgres, url, control)
  }

  async stop(): Promise<void> {
    await this.#postgres.remove()
  }

  /** For the simulation itself, outside of all faults. No statement may wait for a lock. */
  async query(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
    return this.#control.query(text, values)
  }

  get hasTransactions(): boolean {
    return [...this.#used].some(({ isInTransaction }) => isInTransaction)
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
    { text, values }: Statement,
    onDone: Blocked['onDone'],
  ): Promise<void> {
    if (/^\s*begin/i.test(text)) backend.isInTransaction = true
    const isEnd = /^\s*(?:commit|rollback)/i.test(text)
    const running = backend.client.query(text, values).then(
      (result): Outcome => ({ status: 'done', result }),
      (error: unknown): Outcome => ({ status: 'failed', error }),
    )
    const outcome = await this.#settle(backend, running)
    if (outcome === undefined) {
      this.#blocked.set(backend, { running, onDone })
      return
    }
    if (isEnd) backend.isInTransaction = false
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
    if (backend.isInTransaction) await backend.client.query('ROLLBACK')
    backend.isInTransaction = false
    this.#free.push(backend)
    await this.#continueBlocked()
  }

  async releaseAll(): Promise<void> {
    for (const backend of this.#used) await this.release(backend)
  }

  /** Undefined if it waits for a lock. */
  async #settle(backend: Backend, running: Promise<Outcome>): Promise<Outcome | undefined> {
    const others = [...this.#used].some((other) => other !== backend && other.isInTransaction)
    if (!others && this.#blocked.size === 0) return running
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

async function openBackend(url: string): Promise<Backend> {
  const client = await connect(url)
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return { client, pid: rows[0]?.pid ?? 0, isInTransaction: false }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new RealClient({ connectionString: url })
  // The server ends before its clients.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

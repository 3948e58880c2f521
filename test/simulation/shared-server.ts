// The shared database as nodes see it: connections over a network with faults, the clock of the
// simulation, restarts, and backups that are restored.
import type { ServerClock, Statement } from './committed-reads.ts'
import type { Backend, DatabaseServer, Outcome } from './database-server.ts'
import type { Actor } from './actor.ts'
import type { World } from './world.ts'

/** A connection; both sides learn of its end separately. */
export interface Connection {
  actor: Actor
  node: string
  backend: Backend | undefined
  /** Nothing passes any more, and nobody is informed. */
  isSilent: boolean
  /** The client has been informed of the end, or has closed it. */
  isClosed: boolean
  onBroken: (error: Error) => void
  /** Messages of one direction arrive in order. */
  lastMs: { request: number; response: number }
  statements: number
}

/** The network between one node and the database. */
interface Link {
  state: 'good' | 'slow' | 'cut'
  /** Since when new connections work well; undefined while they do not. */
  goodSinceMs: number | undefined
  held: Message[]
}

/** On its way between a node and the database. */
interface Message {
  connection: Connection
  direction: 'request' | 'response'
  label: string
  run: () => unknown
}

/** Of the server, for statements in a transaction; see `inTransaction`. */
const TRANSACTION_LIMIT_MS = 15_000
/** Sets the time limits of the server; they are events here. */
const TIME_LIMITS = /^\s*SELECT set_config\('statement_timeout'/
const NO_ROWS: Outcome = {
  status: 'done',
  result: { command: 'SELECT', rowCount: 0, rows: [], oid: 0, fields: [] },
}
const GOOD_MS = 2
const SLOW_MS = 1200
/** Until a message that was lost is sent again. */
const MAX_RETRY_MS = 200

export class SharedServer {
  readonly #world: World
  readonly #server: DatabaseServer
  readonly #links = new Map<string, Link>()
  readonly #connections = new Set<Connection>()
  #isUp = true
  #startedMs = 0

  constructor(world: World, server: DatabaseServer) {
    this.#world = world
    this.#server = server
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** Since when a node can use the database without delay; undefined while it cannot. */
  goodSince(node: string): number | undefined {
    if (!this.#isUp) return undefined
    const since = this.#link(node).goodSinceMs
    return since === undefined ? undefined : Math.max(since, this.#startedMs)
  }

  async connect(connection: Connection, onDone: (error?: Error) => void): Promise<void> {
    this.#connections.add(connection)
    this.#request(connection, 'connect', async () => {
      if (!this.#isUp) return this.#refuse(connection, onDone)
      connection.backend = await this.#server.open()
      this.#respond(connection, 'connected', () => onDone())
    })
  }

  /** `onDone` is not called if the request or its response is lost. */
  query(connection: Connection, statement: Statement, onDone: (outcome: Outcome) => void): void {
    this.#request(connection, `query ${labelOf(statement)}`, async () => {
      const { backend } = connection
      if (backend === undefined) return this.#break(connection, 'ECONNRESET')
      connection.statements += 1
      if (TIME_LIMITS.test(statement.text)) {
        return this.#respond(connection, 'result', () => onDone(NO_ROWS))
      }
      const timed = { ...statement, clock: this.#clock() }
      await this.#server.execute(backend, timed, async (outcome) => {
        this.#world.note(`${connection.node} ${describeOutcome(outcome)}`)
        this.#limitIdle(connection)
        this.#respond(connection, 'result', () => onDone(outcome))
      })
      if (this.#server.isBlocked(backend)) this.#limitWait(connection, backend)
    })
  }

  /** The client closes the connection; the server notices unless the network is down. */
  close(connection: Connection): void {
    connection.isClosed = true
    this.#request(connection, 'close', async () => this.#end(connection))
  }

  /** All processes of a node have ended: `closed` by the kernel, or `silent` without power. */
  async lose(node: string, how: 'closed' | 'silent'): Promise<void> {
    for (const connection of this.#of(node)) {
      if (how === 'closed') this.close(connection)
      else connection.isSilent = true
      connection.isClosed = true
    }
  }

  /** Connections of a node fail on both sides; what was under way is lost. */
  async reset(node: string): Promise<void> {
    for (const connection of this.#of(node)) await this.#break(connection, 'ECONNRESET')
  }

  slowDown(node: string): void {
    Object.assign(this.#link(node), { state: 'slow', goodSinceMs: undefined })
  }

  /** @param isSilent whether its connections are useless afterwards */
  cut(node: string, { isSilent }: { isSilent: boolean }): void {
    Object.assign(this.#link(node), { state: 'cut', goodSinceMs: undefined })
    if (!isSilent) return
    for (const connection of this.#of(node)) connection.isSilent = true
  }

  heal(node: string): void {
    const link = this.#link(node)
    if (link.state === 'good') return
    const { held } = link
    Object.assign(link, { state: 'good', goodSinceMs: this.#world.nowMs, held: [] })
    // Retransmitted.
    for (const message of held) this.#deliver(message, this.#world.draws.unit() * MAX_RETRY_MS)
  }

  /** The server ends; `start` continues. */
  async stop(): Promise<void> {
    this.#isUp = false
    for (const connection of this.#connections) await this.#break(connection, 'ECONNRESET')
    await this.#server.releaseAll()
  }

  start(): void {
    this.#isUp = true
    this.#startedMs = this.#world.nowMs
  }

  /** Ends all transactions; for a backup that is restored while the server runs. */
  async disconnectAll(): Promise<void> {
    for (const connection of this.#connections) await this.#break(connection, '57P01')
  }

  #of(node: string): Connection[] {
    return [...this.#connections].filter((connection) => connection.node === node)
  }

  #link(node: string): Link {
    const known = this.#links.get(node)
    if (known !== undefined) return known
    const link: Link = { state: 'good', goodSinceMs: 0, held: [] }
    this.#links.set(node, link)
    return link
  }

  #request(connection: Connection, label: string, run: () => unknown): void {
    this.#send({ connection, direction: 'request', label, run })
  }

  #respond(connection: Connection, label: string, run: () => unknown): void {
    this.#send({ connection, direction: 'response', label, run })
  }

  #send(message: Message): void {
    const { connection, direction } = message
    const { draws, nowMs } = this.#world
    const { state } = this.#link(connection.node)
    const delayMs = draws.unit() * (state === 'slow' ? SLOW_MS : GOOD_MS)
    const atMs = Math.max(nowMs + delayMs, connection.lastMs[direction] + 0.001)
    connection.lastMs[direction] = atMs
    this.#deliver(message, atMs - nowMs)
  }

  #deliver(message: Message, delayMs: number): void {
    const { connection, direction, label } = message
    const actor = direction === 'request' ? this.#world.outside : connection.actor
    this.#world.afterAs(actor, delayMs, { label, run: () => this.#arrive(message) })
  }

  #arrive(message: Message): unknown {
    const { connection, run } = message
    if (connection.isSilent) return undefined
    const link = this.#link(connection.node)
    if (link.state !== 'cut') return run()
    link.held.push(message)
    return undefined
  }

  #refuse(connection: Connection, onDone: (error?: Error) => void): void {
    this.#connections.delete(connection)
    this.#respond(connection, 'refused', () => onDone(socketError('ECONNREFUSED')))
  }

  async #break(connection: Connection, code: string): Promise<void> {
    connection.isSilent = true
    if (!connection.isClosed) {
      connection.isClosed = true
      const inform = (): void => connection.onBroken(socketError(code))
      const delayMs = this.#world.draws.unit()
      this.#world.afterAs(connection.actor, delayMs, { label: 'broken', run: inform })
    }
    await this.#end(connection)
  }

  async #end(connection: Connection): Promise<void> {
    this.#connections.delete(connection)
    const { backend } = connection
    connection.backend = undefined
    // A session that waits for a lock does not notice that its client has gone.
    if (backend === undefined) return
    if (this.#server.isBlocked(backend)) this.#endLater(backend)
    else await this.#server.release(backend)
  }

  #endLater(backend: Backend): void {
    const end = async (): Promise<void> => {
      if (this.#server.isBlocked(backend)) this.#endLater(backend)
      else await this.#server.release(backend)
    }
    this.#outsideAfter(100, 'end of session', end)
  }

  /** The server ends a transaction whose client does not continue. */
  #limitIdle(connection: Connection): void {
    const { backend, statements } = connection
    if (backend?.isInTransaction !== true) return
    const end = async (): Promise<void> => {
      if (connection.statements !== statements || connection.backend !== backend) return
      if (!this.#server.isBlocked(backend)) await this.#break(connection, '25P03')
    }
    this.#outsideAfter(TRANSACTION_LIMIT_MS, 'idle in transaction', end)
  }

  #limitWait(connection: Connection, backend: Backend): void {
    if (!backend.isInTransaction) return
    const { statements } = connection
    const cancel = async (): Promise<void> => {
      if (connection.statements === statements) await this.#server.cancel(backend)
    }
    this.#outsideAfter(TRANSACTION_LIMIT_MS, 'lock timeout', cancel)
  }

  #outsideAfter(delayMs: number, label: string, run: () => unknown): void {
    this.#world.afterAs(this.#world.outside, delayMs, { label, run })
  }

  /** The clock of the server is that of the simulation. */
  #clock(): ServerClock {
    return { nowMs: this.#world.wallMs(this.#world.outside), startedMs: 1e12 + this.#startedMs }
  }
}

function labelOf({ text }: Statement): string {
  return text.trim().replaceAll(/\s+/g, ' ').slice(0, 60)
}

function describeOutcome(outcome: Outcome): string {
  if (outcome.status === 'done') return `${outcome.result.command} ${outcome.result.rowCount}`
  const { error } = outcome
  return error instanceof Error && 'code' in error ? `failed ${String(error.code)}` : String(error)
}

function socketError(code: string): Error {
  return Object.assign(new Error(`${code}: the connection failed`), { code })
}

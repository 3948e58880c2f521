// A client of PostgreSQL for the driver's real pool, over the simulated network.
import { EventEmitter } from 'node:events'
import pg from 'pg'
import type { Statement } from './committed-reads.ts'
import type { Outcome } from './database-server.ts'
import type { Connection, SharedServer } from './shared-server.ts'
import type { World } from './world.ts'

export interface Connected {
  world: World
  shared: SharedServer
}

type Done = (error: Error | undefined, result?: pg.QueryResult) => void

interface Options {
  query_timeout?: number | undefined
}

/** Pools of the driver open simulated connections while there is something to connect to. */
export function simulateDriver(current: () => Connected | undefined): void {
  const RealPool = pg.Pool
  class Pool extends RealPool {
    constructor(options: pg.PoolConfig = {}) {
      super(options)
      const connected = current()
      if (connected === undefined) return
      Reflect.set(this, 'Client', clientOf(connected))
    }
  }
  Object.defineProperty(pg, 'Pool', { value: Pool, configurable: true })
}

function clientOf(connected: Connected) {
  return class extends SimulatedClient {
    constructor(options: Options) {
      super(connected, options)
    }
  }
}

/** The part of the driver's client that its pool and this program use. */
class SimulatedClient extends EventEmitter {
  readonly #connected: Connected
  readonly #options: Options
  readonly #connection: Connection
  #state: 'new' | 'connecting' | 'open' | 'closed' = 'new'
  #onConnected: ((error?: Error) => void) | undefined
  #running: Done | undefined
  readonly #waiting: { statement: Statement; done: Done }[] = []
  /** Read by the pool. */
  _queryable = true
  _ending = false

  constructor(connected: Connected, options: Options) {
    super()
    const actor = connected.world.current()
    this.#connected = connected
    this.#options = options
    this.#connection = {
      actor,
      node: actor.name,
      backend: undefined,
      isSilent: false,
      isClosed: false,
      onBroken: (error) => this.#fail(error),
      lastMs: { request: 0, response: 0 },
      statements: 0,
    }
  }

  connect(callback: (error?: Error) => void): void {
    this.#state = 'connecting'
    this.#onConnected = callback
    void this.#connected.shared.connect(this.#connection, (error) => {
      if (this.#state !== 'connecting') return
      this.#state = error === undefined ? 'open' : 'closed'
      this.#takeConnected()?.(error)
    })
  }

  isConnected(): boolean {
    return this.#state === 'open'
  }

  query(
    text: string | Statement,
    values: unknown[] = [],
    callback?: Done,
  ): Promise<pg.QueryResult> | undefined {
    const statement = typeof text === 'string' ? { text, values } : text
    const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>()
    const settle: Done = (error, result) => {
      if (callback !== undefined) callback(error, result)
      else if (result === undefined) reject(error ?? new Error('no result'))
      else resolve(result)
    }
    if (this.#state !== 'open' || this._ending) {
      process.nextTick(settle, new Error('Client has encountered a connection error'))
    } else {
      this.#waiting.push({ statement, done: settle })
      this.#next()
    }
    return callback === undefined ? promise : undefined
  }

  end(callback?: () => void): void {
    const wasConnecting = this.#state === 'connecting'
    this._ending = true
    this._queryable = false
    if (this.#state !== 'closed') this.#connected.shared.close(this.#connection)
    this.#state = 'closed'
    if (wasConnecting) this.#takeConnected()?.(new Error('Connection terminated unexpectedly'))
    this.#failStatements(new Error('Connection terminated'))
    if (callback !== undefined) process.nextTick(callback)
  }

  ref(): void {
    // A simulation ends by itself.
  }

  unref(): void {
    // Likewise.
  }

  #takeConnected(): ((error?: Error) => void) | undefined {
    const callback = this.#onConnected
    this.#onConnected = undefined
    return callback
  }

  #next(): void {
    if (this.#running !== undefined) return
    const next = this.#waiting.shift()
    if (next === undefined) return
    const { query_timeout: limitMs = 0 } = this.#options
    // The driver reports the timeout, and still waits for the response.
    let isReported = false
    const timer =
      limitMs > 0
        ? setTimeout(() => {
            isReported = true
            next.done(new Error('Query read timeout'))
          }, limitMs)
        : undefined
    this.#running = (error, result) => {
      this.#running = undefined
      clearTimeout(timer)
      if (!isReported) next.done(error, result)
      this.#next()
    }
    this.#connected.shared.query(this.#connection, next.statement, (outcome) => {
      this.#running?.(errorOf(outcome), outcome.status === 'done' ? outcome.result : undefined)
    })
  }

  /** The connection has ended by itself. */
  #fail(error: Error): void {
    if (this.#state === 'closed') return
    const wasConnecting = this.#state === 'connecting'
    this.#state = 'closed'
    this._queryable = false
    if (wasConnecting) return this.#takeConnected()?.(error)
    this.#failStatements(error)
    if (this.listenerCount('error') > 0) this.emit('error', error)
  }

  #failStatements(error: Error): void {
    const waiting = this.#waiting.splice(0)
    this.#running?.(error)
    for (const { done } of waiting) done(error)
  }
}

function errorOf(outcome: Outcome): Error | undefined {
  if (outcome.status === 'done') return undefined
  return outcome.error instanceof Error ? outcome.error : new Error(String(outcome.error))
}

// Connections to stores that are used again, up to a limit.
import { StoreConnection } from './store-connection.ts'
import type { StoreAddress } from './store-connection.ts'

export interface PoolOptions {
  maxConnections: number
  connectTimeoutMs: number
}

export class ConnectionPool {
  readonly #options: PoolOptions
  /** Idle connections by address, the most recently used one last. */
  readonly #idle = new Map<string, StoreConnection[]>()
  #openCount = 0

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** An idle connection, or a new one; undefined if there are too many. */
  take(address: StoreAddress): StoreConnection | undefined {
    const idle = this.#idleOf(address)
    for (let found = idle.pop(); found !== undefined; found = idle.pop()) {
      if (!found.isClosed) return found
    }
    const { maxConnections, connectTimeoutMs } = this.#options
    if (this.#openCount >= maxConnections) return undefined
    this.#openCount += 1
    const connection = new StoreConnection({
      address,
      connectTimeoutMs,
      onClosed: () => {
        this.#openCount -= 1
        const others = this.#idleOf(address)
        if (others.includes(connection)) others.splice(others.indexOf(connection), 1)
      },
    })
    return connection
  }

  /** The connection is idle. */
  give(address: StoreAddress, connection: StoreConnection): void {
    this.#idleOf(address).push(connection)
  }

  closeIdle(): void {
    for (const connection of [...this.#idle.values()].flat()) connection.close()
  }

  #idleOf({ isSecure, host, port }: StoreAddress): StoreConnection[] {
    const key = `${isSecure} ${host} ${port}`
    const idle = this.#idle.get(key) ?? []
    this.#idle.set(key, idle)
    return idle
  }
}

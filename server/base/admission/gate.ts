// Admission to a resource of the process: what fits is admitted, some more waits, the rest is
// refused. No client can take the queue from others: see `client.ts`.
import { AppError } from '../errors.ts'
import { currentClient, watchJoins } from './client.ts'

export interface GateBounds {
  /** Sum of the costs that are admitted at once. */
  limit: number
  /** Entries that may wait. */
  waiting: number
  /** Longest wait. Default unlimited: the entries before it have limits of their own. */
  waitMs?: number
  /** Message of the `busy` error. */
  busyMessage: string
}

export interface GateFigures {
  /** Sum of the admitted costs. */
  used: number
  /** Entries that wait. */
  waiting: number
  /** Entries so far. */
  admitted: number
  /** Entries so far that were refused, or waited too long. */
  refused: number
}

/** Gives back what was admitted. Later calls do nothing. */
export type Release = () => void

interface Waiting {
  client: string
  cost: number
  admit: () => void
  /** Leaves the queue, and rejects. */
  leave: (reason: () => unknown) => void
}

/**
 * Clients that wait take turns; the entries of each are first in, first out. Smaller costs do not
 * overtake a large one whose turn it is.
 */
export class Gate {
  readonly #bounds: GateBounds
  /** Entries of each client, in the order of their turns. */
  readonly #queues = new Map<string, Waiting[]>()
  #waiting = 0
  #used = 0
  #admitted = 0
  #refused = 0

  constructor(bounds: GateBounds) {
    this.#bounds = bounds
  }

  get figures(): GateFigures {
    const [used, waiting] = [this.#used, this.#waiting]
    return { used, waiting, admitted: this.#admitted, refused: this.#refused }
  }

  /**
   * Waits for admission. A cost above the limit counts as the limit. While too many wait, the
   * client with most of them loses its last one.
   *
   * @throws AppError `busy` if too many wait for its client, or after the time limit; the signal's
   *   reason
   */
  async enter(signal: AbortSignal, cost = 1): Promise<Release> {
    signal.throwIfAborted()
    const charged = Math.min(cost, this.#bounds.limit)
    if (this.#waiting > 0 || !this.#fits(charged)) await this.#wait(charged, signal)
    else this.#used += charged
    this.#admitted += 1
    return this.#releaseOf(charged)
  }

  /** Runs work while it is admitted. @throws as `enter`, and what the work throws */
  async run<Value>(work: () => Promise<Value>, signal: AbortSignal, cost = 1): Promise<Value> {
    const release = await this.enter(signal, cost)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Counts a cost of something that was admitted already, even above the limit. */
  add(cost: number): Release {
    this.#used += cost
    return this.#releaseOf(cost)
  }

  #fits(cost: number): boolean {
    return this.#used + cost <= this.#bounds.limit
  }

  /** Resolves when the cost is charged. */
  #wait(cost: number, signal: AbortSignal): Promise<void> {
    const { waitMs } = this.#bounds
    const client = currentClient()
    this.#makeRoom(client)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const stop = new AbortController()
    const leave = (reason: () => unknown): void => {
      if (!this.#remove(entry)) return
      reject(reason())
      // It may have been too large, and smaller ones are next.
      this.#admitWaiting()
    }
    const entry: Waiting = { client, cost, admit: resolve, leave }
    signal.addEventListener('abort', () => leave(() => signal.reason), { signal: stop.signal })
    const timer =
      waitMs === undefined ? undefined : setTimeout(() => leave(() => this.#refuse()), waitMs)
    this.#append(entry)
    watchJoins((other) => this.#move(entry, other), stop.signal)
    return promise.finally(() => {
      clearTimeout(timer)
      stop.abort()
    })
  }

  #append(entry: Waiting): void {
    const queue = this.#queues.get(entry.client) ?? []
    this.#queues.set(entry.client, queue)
    queue.push(entry)
    this.#waiting += 1
  }

  /** A client that joins the work does not wait for all else of the one that started it. */
  #move(entry: Waiting, client: string): void {
    const position = this.#queues.get(entry.client)?.indexOf(entry) ?? -1
    const newPosition = this.#queues.get(client)?.length ?? 0
    if (newPosition >= position) return
    this.#remove(entry)
    entry.client = client
    this.#append(entry)
  }

  #makeRoom(client: string): void {
    if (this.#waiting < this.#bounds.waiting) return
    const own = this.#queues.get(client)?.length ?? 0
    let longest: readonly Waiting[] = []
    for (const queue of this.#queues.values()) if (queue.length > longest.length) longest = queue
    if (longest.length <= own + 1) throw this.#refuse()
    longest.at(-1)?.leave(() => this.#refuse())
  }

  /** False if it does not wait any more. */
  #remove(entry: Waiting): boolean {
    const { client } = entry
    const queue = this.#queues.get(client) ?? []
    const position = queue.indexOf(entry)
    if (position === -1) return false
    queue.splice(position, 1)
    this.#waiting -= 1
    if (queue.length === 0) this.#queues.delete(client)
    return true
  }

  #refuse(): AppError {
    this.#refused += 1
    return new AppError('busy', this.#bounds.busyMessage)
  }

  #releaseOf(cost: number): Release {
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#used -= cost
      this.#admitWaiting()
    }
  }

  #admitWaiting(): void {
    for (;;) {
      const [turn] = this.#queues
      const [client, queue] = turn ?? []
      const next = queue?.[0]
      if (client === undefined || next === undefined || !this.#fits(next.cost)) return
      this.#remove(next)
      // The next turn of this client comes after those of all others.
      if (this.#queues.delete(client) && queue) this.#queues.set(client, queue)
      this.#used += next.cost
      next.admit()
    }
  }
}

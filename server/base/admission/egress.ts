// Egress budgets: bytes per second of all responses together, and of those of one client. What
// exceeds a budget waits; clients take turns, so that one with many requests delays only its own.
import { addAbortListener } from 'node:events'
import { LRUCache } from 'lru-cache'
import { AppError } from '../errors.ts'
import type { GateFigures } from './gate.ts'
import { TokenBucket } from './token-bucket.ts'

/** Each undefined: unlimited. */
export interface EgressLimits {
  bytesPerSecond?: number | undefined
  bytesPerSecondPerClient?: number | undefined
}

/** Three segments, which a player requests one after the other: of 6 s with 10 Mbit/s. */
const BURST_BYTES = 24_000_000
/** A small budget is for small segments: the burst is at most what it gives in their duration. */
const BURST_SECONDS = 18
/** A response that would begin later is refused. Players give up after 10 s. */
const MAX_WAIT_MS = 4000
/** Clients whose bytes are counted; beyond that the least recent one is forgotten. */
const MAX_CLIENTS = 10_000
/** Bytes that are admitted at once: few, so that turns are short. */
const MAX_GRANT_BYTES = 256 * 1024
/** Of a small budget, what it gives in this time. */
const GRANT_SECONDS = 0.25
/** Budgets are examined at most this often. */
const TICK_MS = 10
const BUSY_MESSAGE = 'the server sends as much as it may; try again soon'

export interface EgressRequest {
  /** Network of the client. */
  client: string
  bytes: number
  /** Only the start of a response can be refused. */
  part: 'start' | 'rest'
}

/** The budgets of this process, or of all processes of a node. */
export interface Egress {
  /**
   * Resolves when the bytes may be sent.
   *
   * @throws AppError `busy` if a response would begin too late; the signal's reason
   */
  admit(request: EgressRequest, signal: AbortSignal): Promise<void>
}

/** How responses use the budgets. */
export interface Pacing {
  egress: CountedEgress
  /** Most bytes of one request. */
  grantBytes: number
}

/**
 * Undefined without a budget.
 *
 * @param shared the budgets of the node; default those of this process
 */
export function createPacing(
  limits: EgressLimits,
  shared: Egress = new OwnEgress(limits),
): Pacing | undefined {
  const rates = [limits.bytesPerSecond, limits.bytesPerSecondPerClient]
  const smallest = Math.min(...rates.filter((rate) => rate !== undefined))
  if (smallest === Infinity) return undefined
  const grantBytes = Math.min(MAX_GRANT_BYTES, Math.ceil(smallest * GRANT_SECONDS))
  return { egress: new CountedEgress(shared), grantBytes }
}

interface Waiting {
  bytes: number
  resolve: () => void
}

/** What waits of one client, first in, first out. */
interface Queue {
  bucket: TokenBucket | undefined
  bytes: number
  waiting: Waiting[]
}

export class OwnEgress implements Egress {
  readonly #limits: EgressLimits
  readonly #now: () => number
  readonly #all: TokenBucket | undefined
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: MAX_CLIENTS })
  /** Clients in the order of their turns. */
  readonly #queues = new Map<string, Queue>()
  /** Whether the budget of all delays a client that is within its own. */
  #isScarce = false
  #timer: { handle: NodeJS.Timeout; atMs: number } | undefined

  /** @param now milliseconds of a monotonic clock */
  constructor(limits: EgressLimits, now: () => number = () => performance.now()) {
    this.#limits = limits
    this.#now = now
    this.#all = this.#createBucket(limits.bytesPerSecond)
  }

  async admit({ client, bytes, part }: EgressRequest, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const known = this.#queues.get(client)
    const queue = known ?? { bucket: this.#bucketOf(client), bytes: 0, waiting: [] }
    const isFree = !this.#isScarce && this.#all?.isEmpty !== true && queue.bucket?.isEmpty !== true
    if (known === undefined && isFree) return this.#charge(queue, bytes)
    if (part === 'start' && this.#expectedMs(queue, bytes) > MAX_WAIT_MS) {
      throw new AppError('busy', BUSY_MESSAGE)
    }
    this.#queues.set(client, queue)
    return this.#wait(client, queue, { bytes, signal })
  }

  async #wait(
    client: string,
    queue: Queue,
    { bytes, signal }: { bytes: number; signal: AbortSignal },
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const entry = { bytes, resolve }
    queue.waiting.push(entry)
    queue.bytes += bytes
    this.#wakeAfter(0)
    using _leaving = addAbortListener(signal, () => {
      this.#remove(client, queue, entry)
      reject(signal.reason)
    })
    await promise
  }

  /** Until a further request of the queue has its turn, if no others come. */
  #expectedMs({ bucket, bytes }: Queue, requested: number): number {
    const ownMs = bucket?.msUntilLeft(bytes) ?? 0
    let bytesBefore = 0
    for (const other of this.#queues.values()) {
      const isDelayed = other.bucket?.isEmpty === true
      if (!isDelayed) bytesBefore += Math.min(other.bytes, bytes + requested)
    }
    return Math.max(ownMs, this.#all?.msUntilLeft(bytesBefore) ?? 0)
  }

  /** Admits what the budgets have left, in turns, and comes back when there is more. */
  readonly #admitWaiting = (): void => {
    this.#timer = undefined
    this.#isScarce = false
    let waitMs = Infinity
    // A client that is added again is visited again, after all others.
    for (const [client, queue] of this.#queues) {
      if (queue.bucket?.isEmpty === true) {
        waitMs = Math.min(waitMs, queue.bucket.msUntilLeft())
        continue
      }
      if (this.#all?.isEmpty === true) {
        this.#isScarce = true
        waitMs = Math.min(waitMs, this.#all.msUntilLeft())
        break
      }
      const [next] = queue.waiting
      if (next === undefined) continue
      this.#remove(client, queue, next)
      if (this.#queues.delete(client)) this.#queues.set(client, queue)
      this.#charge(queue, next.bytes)
      next.resolve()
    }
    if (this.#queues.size > 0) this.#wakeAfter(waitMs)
  }

  #remove(client: string, queue: Queue, entry: Waiting): void {
    const position = queue.waiting.indexOf(entry)
    if (position === -1) return
    queue.waiting.splice(position, 1)
    queue.bytes -= entry.bytes
    if (queue.waiting.length === 0) this.#queues.delete(client)
  }

  #wakeAfter(waitMs: number): void {
    const nowMs = this.#now()
    const delayMs = Math.max(Math.ceil(waitMs), TICK_MS)
    if (this.#timer !== undefined) {
      if (this.#timer.atMs <= nowMs + delayMs) return
      clearTimeout(this.#timer.handle)
    }
    this.#timer = { handle: setTimeout(this.#admitWaiting, delayMs), atMs: nowMs + delayMs }
  }

  #charge({ bucket }: Queue, bytes: number): void {
    bucket?.charge(bytes)
    this.#all?.charge(bytes)
  }

  #bucketOf(client: string): TokenBucket | undefined {
    const known = this.#buckets.get(client)
    if (known !== undefined) return known
    const bucket = this.#createBucket(this.#limits.bytesPerSecondPerClient)
    if (bucket !== undefined) this.#buckets.set(client, bucket)
    return bucket
  }

  #createBucket(perSecond: number | undefined): TokenBucket | undefined {
    if (perSecond === undefined) return undefined
    const burst = Math.min(BURST_BYTES, perSecond * BURST_SECONDS)
    return new TokenBucket({ perSecond, burst, now: this.#now })
  }
}

/** Counts what a process requests of its budgets. */
export class CountedEgress implements Egress {
  readonly #egress: Egress
  readonly #figures = { waiting: 0, admitted: 0, refused: 0 }

  constructor(egress: Egress) {
    this.#egress = egress
  }

  get figures(): Omit<GateFigures, 'used'> {
    return { ...this.#figures }
  }

  async admit(request: EgressRequest, signal: AbortSignal): Promise<void> {
    const figures = this.#figures
    figures.waiting += 1
    try {
      await this.#egress.admit(request, signal)
      figures.admitted += 1
    } catch (error) {
      if (!signal.aborted) figures.refused += 1
      throw error
    } finally {
      figures.waiting -= 1
    }
  }
}

// One rate limit for all workers: the primary counts, and each worker sends it a request.
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { MAX_KEY_LENGTH, networkOf } from './client.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** A worker's request. Other messages use the channel too. */
const requestShape = z.object({
  takeLimit: z.object({ id: z.int(), network: z.string().max(MAX_KEY_LENGTH) }),
})
export type LimitRequest = z.infer<typeof requestShape>

/** The primary's response. */
const responseShape = z.object({
  limit: z.object({ id: z.int(), waitSeconds: z.number().nonnegative() }),
})
export type LimitResponse = z.infer<typeof responseShape>

/** Sends a message to the primary; `onFailure` is called if it cannot be sent. */
type Send = (request: LimitRequest, onFailure: () => void) => void

export interface SharedLimiterOptions {
  send: Send
  /** Counts the requests of this process while the primary does not respond. */
  own: RateLimiter
  /** Milliseconds of a monotonic clock. */
  now: () => number
}

/** The primary may be busy with a scan; then each worker counts by itself. */
const RESPONSE_MS = 5000
/** Requests without a response; beyond that, this process counts by itself. */
const MAX_PENDING = 1000
/** Refused networks, for which no request is sent until their time is over. */
const MAX_REFUSED = 10_000

/** The limit as seen by a worker. */
export class SharedLimiter {
  readonly #options: SharedLimiterOptions
  readonly #pending = new Map<number, (waitSeconds: number) => void>()
  readonly #refusedUntilMs = new LRUCache<string, number>({ max: MAX_REFUSED })
  #lastId = 0

  constructor(options: SharedLimiterOptions) {
    this.#options = options
  }

  /** Counts a request. Returns 0 if it is allowed, else the seconds to wait. Never rejects. */
  async take(address: string): Promise<number> {
    const { now, own } = this.#options
    const network = networkOf(address)
    const leftMs = (this.#refusedUntilMs.get(network) ?? 0) - now()
    if (leftMs > 0) return Math.ceil(leftMs / 1000)
    const waitSeconds =
      this.#pending.size < MAX_PENDING ? await this.#request(network) : own.take(network)
    if (waitSeconds > 0) this.#refusedUntilMs.set(network, now() + waitSeconds * 1000)
    return waitSeconds
  }

  /** Call it with each message of the primary. */
  readonly receive = (message: unknown): void => {
    const { data } = responseShape.safeParse(message)
    if (data !== undefined) this.#pending.get(data.limit.id)?.(data.limit.waitSeconds)
  }

  #request(network: string): Promise<number> {
    const { send, own } = this.#options
    const { promise, resolve } = Promise.withResolvers<number>()
    const id = (this.#lastId += 1)
    const countHere = (): void => settle(own.take(network))
    const timer = setTimeout(countHere, RESPONSE_MS)
    const settle = (waitSeconds: number): void => {
      clearTimeout(timer)
      if (this.#pending.delete(id)) resolve(waitSeconds)
    }
    this.#pending.set(id, settle)
    send({ takeLimit: { id, network } }, countHere)
    return promise
  }
}

/** The primary's response to a message of a worker; undefined if it is no request. */
export function respondToLimit(message: unknown, limiter: RateLimiter): LimitResponse | undefined {
  const { data } = requestShape.safeParse(message)
  if (data === undefined) return undefined
  const { id, network } = data.takeLimit
  return { limit: { id, waitSeconds: limiter.take(network) } }
}

// Admission of encodes: so many at once, and so much processor time per minute, of which one client
// gets a share.
import { LRUCache } from 'lru-cache'
import { AppError } from '../errors.ts'
import { currentClient } from './client.ts'
import { Gate } from './gate.ts'
import { TokenBucket } from './token-bucket.ts'

/** Processor time that encodes get, of what as many cores have. */
const CPU_SHARE = 0.8
/** Of that, what one client gets: more than twice what a player needs. */
const CLIENT_SHARE = 0.75
const MINUTE_MS = 60_000
/** Clients whose time is counted; beyond that the least recent one is forgotten. */
const MAX_CLIENTS = 10_000
/** A request gets an answer before players give up. */
const WAIT_MS = 6000
const MAX_WAITING = 32
const BUSY_MESSAGE = 'too much video is being encoded; try again soon'

/** Admits encodes of this process, or of all processes of a node. */
export interface EncodeSlots {
  /**
   * Runs an encode while it is admitted, and charges its processor time to the current client.
   *
   * @throws AppError `busy` if too many wait or the time of the last minute is spent; the signal's
   *   reason; what the encode throws
   */
  run<Result extends Charged>(encode: () => Promise<Result>, request: SlotRequest): Promise<Result>
}

export interface SlotRequest {
  /** `idle`: only if it can begin now. */
  when: 'soon' | 'idle'
  signal: AbortSignal
}

/** Result of an encode. */
export interface Charged {
  cpuMs: number
}

export interface EncodeSlotsOptions {
  concurrency: number
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

export class OwnEncodeSlots implements EncodeSlots {
  readonly #gate: Gate
  readonly #concurrency: number
  readonly #all: TokenBucket
  readonly #clients = new LRUCache<string, TokenBucket>({ max: MAX_CLIENTS })
  readonly #now: () => number

  constructor({ concurrency, now = () => performance.now() }: EncodeSlotsOptions) {
    this.#gate = new Gate({
      limit: concurrency,
      waiting: MAX_WAITING,
      waitMs: WAIT_MS,
      busyMessage: BUSY_MESSAGE,
    })
    this.#concurrency = concurrency
    this.#now = now
    this.#all = this.#createBudget(1)
  }

  async run<Result extends Charged>(
    encode: () => Promise<Result>,
    { when, signal }: SlotRequest,
  ): Promise<Result> {
    if (when === 'idle' && !this.#isIdle) throw new AppError('busy', BUSY_MESSAGE)
    const budgets = [this.#all, this.#budgetOf(currentClient())]
    return this.#gate.run(async () => {
      if (budgets.some(({ isEmpty }) => isEmpty)) throw new AppError('busy', BUSY_MESSAGE)
      const result = await encode()
      for (const budget of budgets) budget.charge(result.cpuMs)
      return result
    }, signal)
  }

  get #isIdle(): boolean {
    const { used, waiting } = this.#gate.figures
    return used < this.#concurrency && waiting === 0
  }

  #budgetOf(client: string): TokenBucket {
    const known = this.#clients.get(client)
    if (known !== undefined) return known
    const budget = this.#createBudget(CLIENT_SHARE)
    this.#clients.set(client, budget)
    return budget
  }

  /** Milliseconds of processor time: at first those of a minute. */
  #createBudget(share: number): TokenBucket {
    const burst = this.#concurrency * CPU_SHARE * share * MINUTE_MS
    return new TokenBucket({ perSecond: burst / 60, burst, now: this.#now })
  }
}

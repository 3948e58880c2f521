// Admission of encodes: so many at once, and so much processor time per minute, of which one client
// gets a share.
import { LRUCache } from 'lru-cache'
import { AppError } from '../errors.ts'
import { currentClient } from './client.ts'
import { Gate } from './gate.ts'

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
  readonly #all: CpuBudget
  readonly #clients = new LRUCache<string, CpuBudget>({ max: MAX_CLIENTS })
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
    this.#all = new CpuBudget(concurrency * CPU_SHARE * MINUTE_MS, now)
  }

  async run<Result extends Charged>(
    encode: () => Promise<Result>,
    { when, signal }: SlotRequest,
  ): Promise<Result> {
    if (when === 'idle' && !this.#isIdle) throw new AppError('busy', BUSY_MESSAGE)
    const budgets = [this.#all, this.#budgetOf(currentClient())]
    return this.#gate.run(async () => {
      if (budgets.some(({ isLeft }) => !isLeft)) throw new AppError('busy', BUSY_MESSAGE)
      const result = await encode()
      for (const budget of budgets) budget.charge(result.cpuMs)
      return result
    }, signal)
  }

  get #isIdle(): boolean {
    const { used, waiting } = this.#gate.figures
    return used < this.#concurrency && waiting === 0
  }

  #budgetOf(client: string): CpuBudget {
    const known = this.#clients.get(client)
    if (known !== undefined) return known
    const perMinute = this.#concurrency * CPU_SHARE * CLIENT_SHARE * MINUTE_MS
    const budget = new CpuBudget(perMinute, this.#now)
    this.#clients.set(client, budget)
    return budget
  }
}

/** Processor time that comes back at a constant rate, up to that of a minute. */
class CpuBudget {
  readonly #perMinuteMs: number
  readonly #now: () => number
  #leftMs: number
  #atMs: number

  constructor(perMinuteMs: number, now: () => number) {
    this.#perMinuteMs = perMinuteMs
    this.#now = now
    this.#leftMs = perMinuteMs
    this.#atMs = now()
  }

  get isLeft(): boolean {
    this.#refill()
    return this.#leftMs > 0
  }

  charge(cpuMs: number): void {
    this.#refill()
    this.#leftMs -= cpuMs
  }

  #refill(): void {
    const nowMs = this.#now()
    const refilledMs = ((nowMs - this.#atMs) / MINUTE_MS) * this.#perMinuteMs
    this.#leftMs = Math.min(this.#perMinuteMs, this.#leftMs + refilledMs)
    this.#atMs = nowMs
  }
}

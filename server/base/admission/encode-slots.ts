// Admission of encodes: so many at once, and so much processor time per minute, of which one client
// gets a share.
import { LRUCache } from 'lru-cache'
import { AppError } from '../errors.ts'
import { currentClient } from './client.ts'
import type { Demand } from './demand.ts'
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
   * Without demand it begins only if it can at once, and is stopped as soon as another one of its
   * client has to wait.
   *
   * @throws AppError `busy` if too many wait, the time of the last minute is spent, or nobody waits
   *   any more; the signal's reason; what the encode throws
   */
  run<Result extends Charged>(encode: Encode<Result>, request: SlotRequest): Promise<Result>
}

/** @param stop aborted when the result is not worth the slot any more */
export type Encode<Result> = (stop: AbortSignal) => Promise<Result>

export interface SlotRequest {
  /** Default somebody waits until the end. */
  demand?: Demand
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

/** An encode that runs or waits. */
interface Entry {
  client: string
  demand: Demand | undefined
  isRunning: boolean
  stop: AbortController
}

export class OwnEncodeSlots implements EncodeSlots {
  readonly #gate: Gate
  readonly #concurrency: number
  readonly #all: TokenBucket
  readonly #clients = new LRUCache<string, TokenBucket>({ max: MAX_CLIENTS })
  readonly #entries = new Set<Entry>()
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
    encode: Encode<Result>,
    { demand, signal }: SlotRequest,
  ): Promise<Result> {
    if (!isWanted({ demand }) && !this.#isIdle) throw busy()
    const client = currentClient()
    const budgets = [this.#all, this.#budgetOf(client)]
    // What is refused stops nothing.
    refuseSpent(budgets)
    const entry = { client, demand, isRunning: false, stop: new AbortController() }
    const ended = new AbortController()
    const runNow = async (): Promise<Result> => {
      entry.isRunning = true
      refuseSpent(budgets)
      const charge = (cpuMs: number) => budgets.forEach((budget) => budget.charge(cpuMs))
      return runCharged(async () => encode(entry.stop.signal), charge, this.#now)
    }
    this.#entries.add(entry)
    demand?.watch(() => this.#update(entry), ended.signal)
    const { used } = this.#gate.figures
    const admitted = this.#gate.run(runNow, AbortSignal.any([signal, entry.stop.signal]))
    entry.isRunning = this.#gate.figures.used > used
    this.#update(entry)
    try {
      return await admitted
    } finally {
      this.#entries.delete(entry)
      ended.abort()
    }
  }

  /** Stops what nobody waits for: in the queue, and where another one of its client waits. */
  #update({ client }: Entry): void {
    const own = [...this.#entries].filter((entry) => entry.client === client)
    const running = own.filter(({ isRunning }) => isRunning)
    const waiting = own.filter(({ isRunning }) => !isRunning)
    for (const entry of waiting) if (!isWanted(entry)) entry.stop.abort(busy())
    const stopping = running.filter(({ stop }) => stop.signal.aborted).length
    const wanted = Math.min(waiting.filter(isWanted).length, this.#gate.figures.waiting)
    const unwanted = running.filter((each) => !isWanted(each) && !each.stop.signal.aborted)
    for (const { stop } of unwanted.slice(0, Math.max(wanted - stopping, 0))) stop.abort(busy())
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

/**
 * Runs an encode, and charges what it says that it took. One that fails or is stopped says nothing:
 * it is charged its whole time, because it uses one processor.
 */
export async function runCharged<Result extends Charged>(
  encode: () => Promise<Result>,
  charge: (cpuMs: number) => void,
  now = () => performance.now(),
): Promise<Result> {
  const startedMs = now()
  let cpuMs: number | undefined
  try {
    const result = await encode()
    cpuMs = result.cpuMs
    return result
  } finally {
    charge(cpuMs ?? now() - startedMs)
  }
}

function isWanted({ demand }: Pick<Entry, 'demand'>): boolean {
  return demand === undefined || demand.isThere
}

function refuseSpent(budgets: readonly TokenBucket[]): void {
  if (budgets.some(({ isEmpty }) => isEmpty)) throw busy()
}

function busy(): AppError {
  return new AppError('busy', BUSY_MESSAGE)
}

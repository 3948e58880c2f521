// Work that concurrent requests share, and that goes on when all of them are abandoned: whoever
// runs it decides what to do without demand.
import { addAbortListener } from 'node:events'
import { runShared } from './client.ts'
import { Demand } from './demand.ts'

interface Flight<Value> {
  result: Promise<Value>
  demand: Demand
  join: () => void
}

/** Passed to the work. */
export interface Wanted {
  demand: Demand
  /** Later requests do not join this work, because it is stopped. */
  forget: () => void
}

export interface WantedRequest<Value> {
  /** Runs once for all concurrent requests with a key. */
  start: (wanted: Wanted) => Promise<Value>
  /** `ahead`: nobody waits for the result yet. */
  as: 'wanted' | 'ahead'
  /** Aborted when the request is abandoned. */
  signal: AbortSignal
}

/** Coalesces equal work. */
export class WantedWork<Value> {
  readonly #flights = new Map<string, Flight<Value>>()

  /** @throws the signal's reason as soon as it aborts; what `start` throws */
  async join(key: string, { start, as, signal }: WantedRequest<Value>): Promise<Value> {
    signal.throwIfAborted()
    const known = this.#flights.get(key)
    const demand = known?.demand ?? new Demand()
    const leave = as === 'wanted' ? demand.add() : undefined
    const flight = known ?? this.#start(key, demand, start)
    flight.join()
    const abandoned = Promise.withResolvers<never>()
    using _abandoning = addAbortListener(signal, () => abandoned.reject(signal.reason))
    try {
      return await Promise.race([flight.result, abandoned.promise])
    } finally {
      leave?.()
    }
  }

  #start(key: string, demand: Demand, start: WantedRequest<Value>['start']): Flight<Value> {
    const forget = (): void => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    }
    const { result, join } = runShared(async () => start({ demand, forget }))
    const flight = { result, demand, join }
    this.#flights.set(key, flight)
    // Each request gets the error.
    result.catch(() => undefined).finally(forget)
    return flight
  }
}

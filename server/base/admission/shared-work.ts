// Work that concurrent requests share, and that is aborted when all of them are abandoned.
import { addAbortListener } from 'node:events'
import { runShared } from './client.ts'

interface Flight<Value> {
  result: Promise<Value>
  /** Requests that are not abandoned. */
  requests: number
  abort: AbortController
  join: () => void
}

/** Coalesces equal work. */
export class SharedWork<Value> {
  readonly #flights = new Map<string, Flight<Value>>()

  /**
   * The result of `start`, which runs once for all concurrent calls with this key. Its signal
   * aborts when the signals of all calls have aborted; later calls start again.
   *
   * @throws the signal's reason as soon as it aborts; what `start` throws
   */
  async join(
    key: string,
    signal: AbortSignal,
    start: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    signal.throwIfAborted()
    const flight = this.#flights.get(key) ?? this.#start(key, start)
    flight.requests += 1
    flight.join()
    const abandoned = Promise.withResolvers<never>()
    using _leaving = addAbortListener(signal, () => {
      flight.requests -= 1
      if (flight.requests === 0) {
        this.#end(key, flight)
        flight.abort.abort(signal.reason)
      }
      abandoned.reject(signal.reason)
    })
    return await Promise.race([flight.result, abandoned.promise])
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<Value>): Flight<Value> {
    const abort = new AbortController()
    const { result, join } = runShared(async () => start(abort.signal))
    const flight = { result, requests: 0, abort, join }
    this.#flights.set(key, flight)
    // Each request gets the error.
    result.catch(() => undefined).finally(() => this.#end(key, flight))
    return flight
  }

  #end(key: string, flight: Flight<Value>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key)
  }
}

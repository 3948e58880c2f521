// A timer of a program in a simulation, with the methods of the real one.
import type { QueuedEvent } from './event-heap.ts'
import type { World } from './world.ts'

export interface TimerOptions {
  delayMs: number
  isRepeated?: boolean
  run: () => void
}

export class SimulatedTimer {
  readonly #world: World
  readonly #options: TimerOptions
  #event: QueuedEvent

  constructor(world: World, options: TimerOptions) {
    this.#world = world
    this.#options = options
    this.#event = this.#start()
  }

  #start(): QueuedEvent {
    const { delayMs, isRepeated = false, run } = this.#options
    return this.#world.timer(delayMs, 'timer', () => {
      if (isRepeated) this.#event = this.#start()
      run()
    })
  }

  close(): this {
    this.#event.isCancelled = true
    return this
  }

  refresh(): this {
    this.close()
    this.#event = this.#start()
    return this
  }

  /** A simulation ends by itself. */
  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

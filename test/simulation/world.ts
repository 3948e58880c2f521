// The simulated machine room: one clock, one queue of events, one seed that decides what runs next.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Actor } from './actor.ts'
import { EventHeap } from './event-heap.ts'
import type { QueuedEvent } from './event-heap.ts'
import { realTimers } from './real-timers.ts'
import { createDraws } from './draws.ts'
import type { Draws } from './draws.ts'

/** Start of the simulated time: no test depends on the date. */
const EPOCH_MS = Date.UTC(2026, 0, 31, 12)
/** Timers are late by up to this long, as on a machine with other work. */
const TIMER_LAG_MS = 2

export class World {
  readonly draws: Draws
  /** The simulation itself: faults, database, checks. */
  readonly outside: Actor
  readonly #actors = new AsyncLocalStorage<Actor>()
  readonly #queue = new EventHeap()
  readonly #onStep: (actor: Actor) => void
  readonly #trace: ((line: string) => void) | undefined
  #nowMs = 0
  #count = 0
  #hash = 0x811c9dc5

  constructor(
    seed: number,
    {
      onStep,
      trace,
    }: {
      /** Checks the invariants after an event of this actor. */
      onStep: (actor: Actor) => void
      trace?: ((line: string) => void) | undefined
    },
  ) {
    this.draws = createDraws(seed)
    this.#onStep = onStep
    this.#trace = trace
    this.outside = this.createActor('outside')
  }

  createActor(name: string, skewMs = 0): Actor {
    return { name, isAlive: true, skewMs, pausedUntilMs: 0 }
  }

  /** Milliseconds since the start, monotonic. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** Number of events so far. */
  get steps(): number {
    return this.#count
  }

  /** Of everything that happened, in order: equal for equal runs. */
  get traceHash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0')
  }

  /** The wall clock, for the actor whose code runs. */
  wallMs(actor = this.current()): number {
    return Math.floor(EPOCH_MS + this.#nowMs + actor.skewMs)
  }

  current(): Actor {
    return this.#actors.getStore() ?? this.outside
  }

  /** Runs code as that of an actor. What it awaits continues as the same. */
  as<T>(actor: Actor, work: () => T): T {
    return this.#actors.run(actor, work)
  }

  /** Adds an event of the actor whose code runs. */
  after(delayMs: number, label: string, run: () => unknown): QueuedEvent {
    return this.afterAs(this.current(), delayMs, { label, run })
  }

  /** Adds an event of an actor. */
  afterAs(
    actor: Actor,
    delayMs: number,
    { label, run }: Pick<QueuedEvent, 'label' | 'run'>,
  ): QueuedEvent {
    const atMs = this.#nowMs + Math.max(0, delayMs)
    const event = { atMs, rank: this.draws.unit(), label, run, actor, isCancelled: false }
    this.#queue.add(event)
    return event
  }

  /** As `after`, for a timer of a program: it is never early, and often late. */
  timer(delayMs: number, label: string, run: () => unknown): QueuedEvent {
    return this.after(delayMs + this.draws.unit() * TIMER_LAG_MS, label, run)
  }

  async sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, 'sleep', resolve)
    })
  }

  /** Records something that decides how the run continues. */
  note(text: string): void {
    const line = `${this.#nowMs.toFixed(3)} ${text}`
    for (let at = 0; at < line.length; at += 1) {
      this.#hash = Math.imul(this.#hash ^ line.charCodeAt(at), 0x01000193)
    }
    this.#trace?.(line)
  }

  /** Runs events until a time, each to quiescence. */
  async run(untilMs: number): Promise<void> {
    for (;;) {
      const event = this.#queue.peek()
      if (event === undefined || event.atMs > untilMs) break
      this.#queue.take()
      if (!event.isCancelled && event.actor.isAlive) await this.#step(event)
    }
    this.#nowMs = Math.max(this.#nowMs, untilMs)
  }

  async #step(event: QueuedEvent): Promise<void> {
    const { actor, run, label } = event
    if (actor.pausedUntilMs > event.atMs) {
      this.#queue.add({ ...event, atMs: actor.pausedUntilMs })
      return
    }
    this.#nowMs = Math.max(this.#nowMs, event.atMs)
    this.#count += 1
    this.note(`${actor.name} ${label}`)
    await this.#actors.run(actor, run)
    await quiescence()
    this.#onStep(actor)
  }
}

/** All microtasks have run: nothing in the process has anything to do before the next event. */
export async function quiescence(): Promise<void> {
  await new Promise<void>((resolve) => {
    realTimers.setImmediate(resolve)
  })
}

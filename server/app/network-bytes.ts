// The bytes that each network received in the last hour, for the operator's page: in memory only.
import type { Worker } from 'node:cluster'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { MAX_KEY_LENGTH } from '../base/admission/client.ts'
import type { NetworkRow } from '../site/operator/operator-state.ts'

/** The hour is forgotten slot by slot. */
const SLOT_MS = 5 * 60_000
const SLOTS = 12
/** Networks of a slot, or of a message; beyond that the least recent one is forgotten. */
const MAX_NETWORKS = 2000
const MAX_ROWS = 20
/** Time between two messages of a worker. */
const REPORT_MS = 1000

export interface NetworkCounter {
  /** @param network as `networkOf` returns it */
  add(network: string, bytes: number): void
}

/** Message of a worker. */
const messageShape = z.object({
  sentBytes: z
    .array(z.tuple([z.string().max(MAX_KEY_LENGTH), z.number().nonnegative()]))
    .max(MAX_NETWORKS),
})

export class NetworkBytes implements NetworkCounter {
  readonly #now: () => number
  /** Newest last. */
  #slots: { startMs: number; bytes: LRUCache<string, number> }[] = []

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  add(network: string, bytes: number): void {
    const slot = this.#currentSlot()
    slot.set(network, (slot.get(network) ?? 0) + bytes)
  }

  /** Most bytes first. */
  heaviest(): NetworkRow[] {
    this.#currentSlot()
    const sums = new Map<string, number>()
    for (const slot of this.#slots)
      for (const [network, bytes] of slot.bytes) sums.set(network, (sums.get(network) ?? 0) + bytes)
    return [...sums]
      .map(([network, bytes]) => ({ network, bytes }))
      .toSorted((a, b) => b.bytes - a.bytes)
      .slice(0, MAX_ROWS)
  }

  #currentSlot(): LRUCache<string, number> {
    const nowMs = this.#now()
    const newest = this.#slots.at(-1)
    if (newest !== undefined && nowMs < newest.startMs + SLOT_MS) return newest.bytes
    this.#slots = this.#slots.filter(({ startMs }) => nowMs < startMs + SLOTS * SLOT_MS)
    const bytes = new LRUCache<string, number>({ max: MAX_NETWORKS })
    this.#slots.push({ startMs: nowMs, bytes })
    return bytes
  }
}

/** Of a worker: sends the bytes to the primary, those of a second at once. */
export function reportNetworkBytes(worker: Pick<Worker, 'process'>): NetworkCounter {
  const unsent = new LRUCache<string, number>({ max: MAX_NETWORKS })
  const report = (): void => {
    // Without a callback, a closed channel would emit an error that ends the process.
    worker.process.send?.({ sentBytes: [...unsent] }, () => undefined)
    unsent.clear()
  }
  return {
    add(network, bytes) {
      if (unsent.size === 0) setTimeout(report, REPORT_MS).unref()
      unsent.set(network, (unsent.get(network) ?? 0) + bytes)
    },
  }
}

/** Of the primary: call it with each message of a worker. */
export function addNetworkBytes(message: unknown, networks: NetworkCounter | undefined): void {
  const { data } = messageShape.safeParse(message)
  for (const [network, bytes] of data?.sentBytes ?? []) networks?.add(network, bytes)
}

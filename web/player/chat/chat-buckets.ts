// The messages of a chat in buckets of a minute: which are needed at a position, and those that are
// in memory.
import type { ChatIndexResponse } from '../../../shared/contract.ts'
import type { ChatMessage, ChatSource } from './chat-source.ts'

/** Messages before the position that are loaded, if there are as many. */
const MIN_SHOWN = 50
/** The latest ones that are shown. */
export const MAX_SHOWN = 200
/** Two requests leave the video the other connections of the browser. */
const MAX_REQUESTS = 2
/** Until a bucket that could not be loaded is requested again. */
const PAUSE_MS = 10_000

/**
 * The buckets with the messages up to a position, the latest first, and the one that follows, last.
 * Only those with messages.
 */
export function planBuckets(
  { counts, bucketSeconds }: Pick<ChatIndexResponse, 'counts' | 'bucketSeconds'>,
  seconds: number,
): number[] {
  const current = Math.floor(seconds / bucketSeconds)
  const plan: number[] = []
  let before = 0
  for (let at = Math.min(current, counts.length - 1); at >= 0 && before < MIN_SHOWN; at -= 1) {
    const count = counts[at] ?? 0
    if (count > 0) plan.push(at)
    // None of its messages may be due.
    if (at < current) before += count
  }
  if ((counts[current + 1] ?? 0) > 0) plan.push(current + 1)
  return plan
}

/** The latest messages up to a position, in order; without those before a missing bucket. */
export function messagesUpTo(
  plan: readonly number[],
  seconds: number,
  find: (bucket: number) => readonly ChatMessage[] | undefined,
): ChatMessage[] {
  let shown: ChatMessage[] = []
  for (const [nth, bucket] of plan.entries()) {
    const messages = find(bucket)
    if (!messages && nth > 0) break
    const due = (messages ?? []).slice(0, countDue(messages ?? [], seconds))
    shown = due.concat(shown)
    if (shown.length >= MAX_SHOWN) break
  }
  return shown.slice(-MAX_SHOWN)
}

function countDue(messages: readonly ChatMessage[], seconds: number): number {
  return messages.findLastIndex(({ t }) => t <= seconds) + 1
}

interface CachedBucket {
  /** According to the index. */
  count: number
  messages: readonly ChatMessage[]
}

export class ChatBuckets {
  readonly #source: ChatSource
  readonly #onLoaded: () => void
  readonly #signal: AbortSignal
  readonly #cached = new Map<number, CachedBucket>()
  readonly #failedAtMs = new Map<number, number>()
  readonly #loading = new Set<number>()
  #plan: readonly number[] = []

  constructor(source: ChatSource, signal: AbortSignal, onLoaded: () => void) {
    this.#source = source
    this.#signal = signal
    this.#onLoaded = onLoaded
  }

  readonly find = (bucket: number): readonly ChatMessage[] | undefined =>
    this.#cached.get(bucket)?.messages

  /** Loads what is missing of a plan, in its order, and evicts everything else. */
  need(plan: readonly number[]): void {
    this.#plan = plan
    for (const bucket of this.#cached.keys()) {
      if (!plan.includes(bucket)) this.#cached.delete(bucket)
    }
    this.#loadNext()
  }

  #loadNext(): void {
    const state = this.#source.read()
    if (this.#signal.aborted || state.status !== 'loaded') return
    for (const bucket of this.#plan) {
      if (this.#loading.size >= MAX_REQUESTS) return
      const count = state.value.counts[bucket] ?? 0
      const isCached = this.#cached.get(bucket)?.count === count
      const pausedMs = performance.now() - (this.#failedAtMs.get(bucket) ?? -Infinity)
      if (isCached || this.#loading.has(bucket) || pausedMs < PAUSE_MS) continue
      void this.#load(bucket, count)
    }
  }

  async #load(bucket: number, count: number): Promise<void> {
    this.#loading.add(bucket)
    try {
      const messages = await this.#source.bucket(bucket, this.#signal)
      if (this.#plan.includes(bucket)) this.#cached.set(bucket, { count, messages })
    } catch {
      this.#failedAtMs.set(bucket, performance.now())
      this.#loadLater()
    }
    this.#loading.delete(bucket)
    if (this.#signal.aborted) return
    this.#onLoaded()
    this.#loadNext()
  }

  /** While the video is paused, nothing else would load it again. */
  #loadLater(): void {
    const load = (): void => {
      if (!document.hidden) this.#loadNext()
    }
    const timer = setTimeout(load, PAUSE_MS + 100)
    this.#signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }
}

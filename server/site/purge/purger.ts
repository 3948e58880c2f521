// Purges caches by tag, each on its own: a cache that does not answer delays no other one, and gets
// its tags when it does.
import { setTimeout as sleep } from 'node:timers/promises'

export interface PurgerOptions {
  /** Addresses of the caches. */
  urls: readonly string[]
  /** A cache did not accept a purge, which is repeated. */
  onFailure(url: string, error: unknown): void
  /** Ends all attempts. */
  signal: AbortSignal
}

/** Tags of one request; Varnish accepts headers of 8 KiB. */
const TAGS_PER_REQUEST = 100
/** Beyond, the oldest tags of a cache that does not answer are dropped. */
const MAX_TAGS = 100_000
const TIMEOUT_MS = 5000
/** Longer than a response takes that was being read from the recording. */
const REPEAT_MS = 30_000
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000

export class Purger {
  readonly #caches: readonly CacheQueue[]
  readonly #signal: AbortSignal

  constructor(options: PurgerOptions) {
    this.#signal = options.signal
    this.#caches = options.urls.map((url) => new CacheQueue(url, options))
  }

  /**
   * Purges the tags from all caches, until each has accepted them; and again later, because a
   * response that was being sent during the first purge may have been stored after it.
   */
  purge(tags: readonly string[]): void {
    if (tags.length === 0) return
    const add = (): void => {
      for (const cache of this.#caches) cache.add(tags)
    }
    add()
    sleep(REPEAT_MS, undefined, { signal: this.#signal, ref: false }).then(add, () => undefined)
  }
}

/** The tags that one cache has not accepted. */
class CacheQueue {
  readonly #url: string
  readonly #options: PurgerOptions
  readonly #tags = new Set<string>()
  #isSending = false
  #hasFailed = false

  constructor(url: string, options: PurgerOptions) {
    this.#url = url
    this.#options = options
  }

  add(tags: readonly string[]): void {
    for (const tag of tags) {
      // Moved to the end: the oldest are sent, or dropped, first.
      this.#tags.delete(tag)
      this.#tags.add(tag)
    }
    for (const oldest of this.#tags) {
      if (!this.#hasFailed || this.#tags.size <= MAX_TAGS) break
      this.#tags.delete(oldest)
    }
    if (!this.#isSending) void this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    const { signal } = this.#options
    this.#isSending = true
    let pauseMs = FIRST_PAUSE_MS
    while (this.#tags.size > 0 && !signal.aborted) {
      const batch = this.#takeOldest()
      try {
        await this.#send(batch)
        this.#hasFailed = false
        pauseMs = FIRST_PAUSE_MS
      } catch (error) {
        if (signal.aborted) break
        this.#hasFailed = true
        for (const tag of batch) this.#tags.add(tag)
        this.#options.onFailure(this.#url, error)
        await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined)
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)
      }
    }
    this.#isSending = false
  }

  #takeOldest(): string[] {
    const batch: string[] = []
    for (const tag of this.#tags) {
      if (batch.length === TAGS_PER_REQUEST) break
      batch.push(tag)
      this.#tags.delete(tag)
    }
    return batch
  }

  async #send(tags: readonly string[]): Promise<void> {
    const { signal } = this.#options
    const response = await fetch(this.#url, {
      method: 'PURGE',
      headers: { 'surrogate-key': tags.join(' ') },
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    await response.body?.cancel()
    // 404: the cache had nothing with these tags.
    if (!response.ok && response.status !== 404) {
      throw new Error(`the cache responded ${response.status} to PURGE`)
    }
  }
}

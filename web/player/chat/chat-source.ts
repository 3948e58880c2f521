// The chat of a session, from the API: its index, which is loaded again while the chat grows and is
// watched, and its messages in buckets of a minute.
import { chatBucketResponse, chatIndexResponse } from '../../../shared/contract.ts'
import type { ChatIndexResponse } from '../../../shared/contract.ts'
import { parseShape } from '../../../shared/shape.ts'
import type { Shaped } from '../../../shared/shape.ts'
import { fetchJson } from '../../api/page-api.ts'
import type { LoadState } from '../../api/resource.ts'
import type { Playback } from '../playback/playback.ts'

type ServedMessage = Shaped<typeof chatBucketResponse>['messages'][number]

export interface ChatMessage extends ServedMessage {
  /** Unique in its chat. */
  id: number
}

/** A growing chat is loaded again after this time. */
const RELOAD_MS = 3000
/** A large chat is not available until the server has read it. */
const RETRY_MS = 3000
const MAX_RETRIES = 5
/** An index that a cache has may name a version that is gone. */
const BUCKET_ATTEMPTS = 6
const BUCKET_RETRY_MS = 600
/** More than a bucket has. */
const MAX_BUCKET = 10_000

export class ChatSource {
  /** Absolute; the buckets are next to it. */
  readonly #url: string
  readonly #listeners = new Set<() => void>()
  #state: LoadState<ChatIndexResponse> = { status: 'loading' }
  #playback: Playback | undefined
  #signal = AbortSignal.abort()
  #running: Promise<void> | undefined
  #startedAtMs = -Infinity
  #retries = 0

  constructor(url: string) {
    this.#url = url
  }

  /** Loads it, and again while it grows and is watched. Returns the undo. */
  open(playback: Playback): () => void {
    const left = new AbortController()
    this.#playback = playback
    this.#signal = left.signal
    this.#retries = 0
    // Without timers: nothing is loaded while the page is hidden or paused.
    const stop = playback.subscribe(() => {
      const isDue = performance.now() - this.#startedAtMs >= RELOAD_MS
      if (isDue && !document.hidden && this.#isGrowing()) void this.#load('no-cache')
    })
    void this.#load('default')
    return () => {
      stop()
      left.abort()
      this.#running = undefined
    }
  }

  /** The current state; the same object until it changes. */
  readonly read = (): LoadState<ChatIndexResponse> => this.#state

  readonly subscribe = (onChange: () => void): (() => void) => {
    const listener = () => onChange()
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Of a file next to the index. */
  urlOf(path: string): string {
    return new URL(path, this.#url).href
  }

  /** The messages of a bucket. @throws if it cannot be loaded */
  async bucket(number: number, signal: AbortSignal): Promise<ChatMessage[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const version = this.#state.status === 'loaded' ? this.#state.value.version : ''
        const url = this.urlOf(`${version}/${number}.json`)
        const { messages } = parseShape(chatBucketResponse, await fetchJson(url, signal))
        return messages.map((message, nth) => ({ ...message, id: number * MAX_BUCKET + nth }))
      } catch (error) {
        if (signal.aborted || attempt === BUCKET_ATTEMPTS) throw error
        await new Promise((resolve) => setTimeout(resolve, BUCKET_RETRY_MS))
        await this.#load('no-cache')
      }
    }
  }

  #isGrowing(): boolean {
    return this.#state.status === 'loaded' && this.#state.value.growing
  }

  #load(cache: RequestCache): Promise<void> {
    this.#startedAtMs = performance.now()
    this.#running ??= this.#fetch(cache, this.#signal)
    return this.#running
  }

  async #fetch(cache: RequestCache, signal: AbortSignal): Promise<void> {
    try {
      const value = parseShape(chatIndexResponse, await fetchJson(this.#url, signal, cache))
      if (!signal.aborted) this.#settle({ status: 'loaded', value })
    } catch (error) {
      if (!signal.aborted && this.#state.status !== 'loaded') this.#retry(error)
    }
    if (!signal.aborted) this.#running = undefined
  }

  #retry(error: unknown): void {
    this.#retries += 1
    // The server has read the files, and none is a chat. One that is recorded may become one.
    const isLive = this.#playback?.read().liveEdgeSeconds !== undefined
    const isAbsent = !isLive && error instanceof Error && error.cause === 404
    if (isAbsent || this.#retries > MAX_RETRIES) return this.#settle({ status: 'failed' })
    const timer = setTimeout(() => void this.#load('no-cache'), RETRY_MS)
    this.#signal.addEventListener('abort', () => clearTimeout(timer))
  }

  #settle(state: LoadState<ChatIndexResponse>): void {
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}

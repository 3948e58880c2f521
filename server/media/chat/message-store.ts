// The messages of a session while its chat is read: as bytes, outside of the heap, so that a
// million of them take a bounded amount of memory.
import { UnplayableError } from '../../base/errors.ts'
import { cleanMessage } from './chat-message.ts'
import type { CleanMessage, RawMessage, Removal } from './chat-message.ts'
import type { ChatTimeline } from './chat-timeline.ts'
import { RecentMessages } from './recent-messages.ts'

/** A chat with more is not served. */
export interface ChatLimits {
  /** Of a file, and of what is in a compressed one. */
  bytes: number
  messages: number
  /** Of all messages: those of 300,000 take about 35 MiB. */
  storedBytes: number
}

export const CHAT_LIMITS: ChatLimits = {
  bytes: 1024 * 1024 * 1024,
  messages: 1_000_000,
  storedBytes: 80 * 1024 * 1024,
}

const CHUNK_BYTES = 1024 * 1024

export const BUCKET_MS = 60_000
/** Messages before the start that are shown at the start: what was said last. */
const MAX_EARLY = 50
/** Messages this long after the end are shown at the end. */
const LATE_SECONDS = 30
/** The time of a message that is left out. */
const NOWHERE = -1

/** Messages in the order of the files. */
export class MessageStore {
  readonly #limits: ChatLimits
  readonly #chunks: Buffer[] = []
  /** Free in the last chunk. */
  #free = 0
  readonly #starts: number[] = []
  readonly #lengths: number[] = []
  /** Milliseconds on the timeline of the session, or NOWHERE. */
  readonly #timesMs: number[] = []
  #offsets: number[] = []
  #clocks: number[] = []
  #recent = new RecentMessages()
  outside = 0

  constructor(limits: ChatLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#starts.length
  }

  /** Leaves out messages that were added before. */
  remove(removal: Removal): void {
    this.#recent.remove(removal)
  }

  /** The first message of this file that has a time. */
  get first(): { offsetSeconds: number; clockMs: number } {
    return { offsetSeconds: this.#offsets[0] ?? NaN, clockMs: this.#clocks[0] ?? NaN }
  }

  /** @throws UnplayableError if a limit is exceeded */
  add(raw: RawMessage): void {
    const message = cleanMessage(raw)
    const { offsetSeconds = NaN, clockMs = NaN } = raw
    const hasTime = Number.isFinite(offsetSeconds) || Number.isFinite(clockMs)
    if (message === undefined || !hasTime) return
    if (this.size === this.#limits.messages) throw limitExceeded('chat-messages', this.size)
    this.#recent.add(this.size, raw)
    this.#offsets.push(offsetSeconds)
    this.#clocks.push(clockMs)
    this.#store(message)
  }

  /** Places the messages that were added since the last call. */
  endFile(timeline: ChatTimeline): void {
    const { startSeconds, endSeconds } = timeline
    const base = this.#timesMs.length
    /** Those before the start, while there is none after it. */
    let early: number[] | undefined = []
    for (const [nth, offsetSeconds] of this.#offsets.entries()) {
      const seconds = timeline.place({ offsetSeconds, clockMs: this.#clocks[nth] ?? NaN })
      this.#timesMs.push(NOWHERE)
      if (seconds < startSeconds && early !== undefined) early.push(base + nth)
      else if (seconds >= startSeconds && seconds <= endSeconds + LATE_SECONDS) {
        this.#placeEarly(early, startSeconds)
        early = undefined
        this.#timesMs[base + nth] = toMs(Math.min(seconds, endSeconds))
      } else this.outside += 1
    }
    this.#placeEarly(early, startSeconds)
    for (const message of this.#recent.removed) this.#timesMs[message] = NOWHERE
    this.#offsets = []
    this.#clocks = []
    this.#recent = new RecentMessages()
  }

  #placeEarly(messages: readonly number[] | undefined, startSeconds: number): void {
    if (messages === undefined) return
    this.outside += Math.max(0, messages.length - MAX_EARLY)
    for (const message of messages.slice(-MAX_EARLY)) {
      this.#timesMs[message] = toMs(startSeconds)
    }
  }

  /** Messages by bucket, sorted by time; equal times in the order of the files. */
  buckets(): Uint32Array[] {
    const counts: number[] = []
    for (const timeMs of this.#timesMs) {
      if (timeMs === NOWHERE) continue
      const bucket = Math.floor(timeMs / BUCKET_MS)
      while (counts.length <= bucket) counts.push(0)
      counts[bucket] = (counts[bucket] ?? 0) + 1
    }
    const buckets = counts.map((count) => new Uint32Array(count))
    const filled = counts.map(() => 0)
    for (const [message, timeMs] of this.#timesMs.entries()) {
      if (timeMs === NOWHERE) continue
      const bucket = Math.floor(timeMs / BUCKET_MS)
      const at = filled[bucket] ?? 0
      const messages = buckets[bucket]
      if (messages !== undefined) messages[at] = message
      filled[bucket] = at + 1
    }
    const timeOf = (message: number): number => this.#timesMs[message] ?? 0
    for (const messages of buckets) messages.sort((a, b) => timeOf(a) - timeOf(b) || a - b)
    return buckets
  }

  /** A message as JSON, one byte a character. */
  formatBytes(message: number): string {
    const start = this.#starts[message] ?? 0
    const from = start % CHUNK_BYTES
    const to = from + (this.#lengths[message] ?? 0)
    const json = this.#chunks[Math.floor(start / CHUNK_BYTES)]?.toString('latin1', from, to) ?? '{}'
    return `{"t":${(this.#timesMs[message] ?? 0) / 1000},${json.slice(1)}`
  }

  #store(message: CleanMessage): void {
    const json = JSON.stringify(message)
    const sizeBytes = Buffer.byteLength(json)
    if (sizeBytes > this.#free) {
      const { storedBytes } = this.#limits
      if (this.#chunks.length * CHUNK_BYTES >= storedBytes) {
        throw limitExceeded('chat-text-bytes', storedBytes)
      }
      this.#chunks.push(Buffer.allocUnsafeSlow(CHUNK_BYTES))
      this.#free = CHUNK_BYTES
    }
    const at = CHUNK_BYTES - this.#free
    this.#chunks.at(-1)?.write(json, at)
    this.#starts.push((this.#chunks.length - 1) * CHUNK_BYTES + at)
    this.#lengths.push(sizeBytes)
    this.#free -= sizeBytes
  }
}

function toMs(seconds: number): number {
  return Math.max(0, Math.round(seconds * 1000))
}

/** The chat is not served, for this reason. */
export function limitExceeded(
  limit: 'chat-bytes' | 'chat-messages' | 'chat-text-bytes',
  max: number,
): UnplayableError {
  return new UnplayableError({ code: 'limit-exceeded', limit, max })
}

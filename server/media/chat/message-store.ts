// The messages of a session while its chat is read: columns and bytes outside of the heap, so that
// a million of them take a bounded amount of memory.
import { limitExceeded } from '../../base/errors.ts'
import { cleanMessage, isOfUser } from './chat-message.ts'
import type { RawMessage, Removal } from './chat-message.ts'
import type { ChatTimeline, MessageTimes } from './chat-timeline.ts'
import { LRUCache } from 'lru-cache'

/** A chat with more is not served. */
export interface ChatLimits {
  /** Of a file, and of what is in a compressed one. */
  bytes: number
  messages: number
  /** Of all texts and users: those of 1,000,000 messages take about 50 MiB. */
  storedBytes: number
}

export const CHAT_LIMITS: ChatLimits = {
  bytes: 1024 * 1024 * 1024,
  messages: 1_000_000,
  storedBytes: 80 * 1024 * 1024,
}

const CHUNK_BYTES = 1024 * 1024
/** Before each text: its size, which the limits of a message keep below 64 KiB. */
const PREFIX_BYTES = 2
/** What the messages of a user have in common is stored once, for so many users. */
const MAX_KNOWN_HEADS = 50_000

export const BUCKET_MS = 60_000
/** Messages before the start that are shown at the start: what was said last. */
const MAX_EARLY = 50
/** Messages this long after the end are shown at the end. */
const LATE_SECONDS = 30
/** The time of a message that is left out. */
const NOWHERE = -1

/** A number for each message, in memory that grows without a copy. */
type Column = Float64Array<ArrayBuffer>
const COLUMN_STEP = 4096

function createColumn(messages: number): Column {
  const maxByteLength = messages * Float64Array.BYTES_PER_ELEMENT
  return new Float64Array(new ArrayBuffer(0, { maxByteLength }))
}

/** Texts as UTF-8, found by their positions. */
class ChatTexts {
  readonly #chunks: Buffer[] = []
  readonly #maxBytes: number
  /** Free in the last chunk. */
  #free = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @throws UnplayableError if the limit is exceeded */
  add(text: string): number {
    const sizeBytes = Buffer.byteLength(text)
    if (PREFIX_BYTES + sizeBytes > this.#free) {
      if (this.#chunks.length * CHUNK_BYTES >= this.#maxBytes) {
        throw limitExceeded('chat-text-bytes', this.#maxBytes)
      }
      this.#chunks.push(Buffer.allocUnsafeSlow(CHUNK_BYTES))
      this.#free = CHUNK_BYTES
    }
    const at = CHUNK_BYTES - this.#free
    const chunk = this.#chunks.at(-1)
    chunk?.writeUInt16LE(sizeBytes, at)
    chunk?.write(text, at + PREFIX_BYTES)
    this.#free -= PREFIX_BYTES + sizeBytes
    return (this.#chunks.length - 1) * CHUNK_BYTES + at
  }

  bytesAt(position: number): Buffer {
    const chunk = this.#chunks[Math.floor(position / CHUNK_BYTES)] ?? Buffer.alloc(PREFIX_BYTES)
    const start = (position % CHUNK_BYTES) + PREFIX_BYTES
    return chunk.subarray(start, start + chunk.readUInt16LE(start - PREFIX_BYTES))
  }
}

/** Messages in the order of the files. */
export class MessageStore {
  readonly #limits: ChatLimits
  readonly #hiddenUsers: ReadonlySet<string>
  readonly #stored: ChatTexts
  /** Positions of stored heads by their JSON: all of a message but time and text. */
  readonly #knownHeads = new Map<string, number>()
  readonly #heads: Column
  readonly #texts: Column
  readonly #clocks: Column
  /** `offsetSeconds`; of earlier files milliseconds in the session, or NOWHERE. */
  readonly #times: Column
  #fileStart = 0
  /** The times of the first message of this file, hidden or not. */
  #first: MessageTimes | undefined
  #recent = new RecentMessages()
  size = 0

  /** @param hiddenUsers of messages that are left out, as `foldUser` returns them */
  constructor(limits: ChatLimits, hiddenUsers: readonly string[]) {
    this.#limits = limits
    this.#hiddenUsers = new Set(hiddenUsers)
    this.#stored = new ChatTexts(limits.storedBytes)
    const { messages } = limits
    this.#heads = createColumn(messages)
    this.#texts = createColumn(messages)
    this.#clocks = createColumn(messages)
    this.#times = createColumn(messages)
  }

  /** Leaves out messages that were added before. */
  remove(removal: Removal): void {
    this.#recent.remove(removal)
  }

  /** NaN without a message. */
  get first(): MessageTimes {
    return this.#first ?? { offsetSeconds: NaN, clockMs: NaN }
  }

  /** @throws UnplayableError if a limit is exceeded */
  add(raw: RawMessage): void {
    const message = cleanMessage(raw)
    const { offsetSeconds = NaN, clockMs = NaN } = raw
    const hasTime = Number.isFinite(offsetSeconds) || Number.isFinite(clockMs)
    if (message === undefined || !hasTime) return
    this.#first ??= { offsetSeconds, clockMs }
    if (isOfUser(raw, this.#hiddenUsers)) return
    if (this.size === this.#limits.messages) throw limitExceeded('chat-messages', this.size)
    if (this.size % COLUMN_STEP === 0) this.#growColumns()
    const { text, ...head } = message
    this.#heads[this.size] = this.#storeHead(JSON.stringify(head))
    this.#texts[this.size] = this.#stored.add(JSON.stringify(text))
    this.#times[this.size] = offsetSeconds
    this.#clocks[this.size] = clockMs
    this.#recent.add(this.size, raw)
    this.size += 1
  }

  /** Places the messages that were added since the last call. */
  endFile(timeline: ChatTimeline): void {
    const { startSeconds, endSeconds } = timeline
    /** Those before the start, while there is none after it. */
    let early: number[] | undefined = []
    for (let message = this.#fileStart; message < this.size; message += 1) {
      const seconds = timeline.place(this.#timesOf(message))
      this.#times[message] = NOWHERE
      if (seconds < startSeconds && early !== undefined) early.push(message)
      else if (seconds >= startSeconds && seconds <= endSeconds + LATE_SECONDS) {
        this.#placeEarly(early, startSeconds)
        early = undefined
        this.#times[message] = toMs(Math.min(seconds, endSeconds))
      }
    }
    this.#placeEarly(early, startSeconds)
    for (const message of this.#recent.removed) this.#times[message] = NOWHERE
    this.#fileStart = this.size
    this.#first = undefined
    this.#recent = new RecentMessages()
  }

  #placeEarly(messages: readonly number[] | undefined, startSeconds: number): void {
    if (messages === undefined) return
    for (const message of messages.slice(-MAX_EARLY)) {
      this.#times[message] = toMs(startSeconds)
    }
  }

  /** Messages by bucket, sorted by time; equal times in the order of the files. */
  buckets(): number[][] {
    const buckets: number[][] = []
    const timeOf = (message: number): number => this.#times[message] ?? NOWHERE
    for (let message = 0; message < this.size; message += 1) {
      if (timeOf(message) === NOWHERE) continue
      const bucket = Math.floor(timeOf(message) / BUCKET_MS)
      while (buckets.length <= bucket) buckets.push([])
      buckets[bucket]?.push(message)
    }
    for (const messages of buckets) messages.sort((a, b) => timeOf(a) - timeOf(b))
    return buckets
  }

  /** Writes a message as JSON. Returns its end, or undefined if the target has no room for it. */
  write(message: number, target: Buffer, start: number): number | undefined {
    const head = this.#stored.bytesAt(this.#heads[message] ?? 0)
    const text = this.#stored.bytesAt(this.#texts[message] ?? 0)
    const time = `{"t":${(this.#times[message] ?? 0) / 1000},`
    const field = ',"text":'
    const sizeBytes = time.length + head.length - 2 + field.length + text.length + 1
    if (start + sizeBytes > target.length) return undefined
    let at = start + target.write(time, start, 'latin1')
    at += head.copy(target, at, 1, head.length - 1)
    at += target.write(field, at, 'latin1')
    at += text.copy(target, at)
    return at + target.write('}', at, 'latin1')
  }

  #timesOf(message: number): MessageTimes {
    const offsetSeconds = this.#times[message] ?? NaN
    return { offsetSeconds, clockMs: this.#clocks[message] ?? NaN }
  }

  #growColumns(): void {
    const messages = Math.min(this.size + COLUMN_STEP, this.#limits.messages)
    for (const column of [this.#heads, this.#texts, this.#clocks, this.#times]) {
      column.buffer.resize(messages * column.BYTES_PER_ELEMENT)
    }
  }

  #storeHead(head: string): number {
    const known = this.#knownHeads.get(head)
    if (known !== undefined) return known
    const position = this.#stored.add(head)
    if (this.#knownHeads.size < MAX_KNOWN_HEADS) this.#knownHeads.set(head, position)
    return position
  }
}

function toMs(seconds: number): number {
  return Math.max(0, Math.round(seconds * 1000))
}

/** Characters of all keys, which those of about 20,000 messages have. */
const MAX_CHARACTERS = 8 * 1024 * 1024
/** Memory of a key without text. */
const ENTRY_CHARACTERS = 100
/** Of an id, or of a user and a text. */
const MAX_KEY_LENGTH = 700

/**
 * The messages of a file by what removals name, which follow the messages that they concern. Takes
 * linear time: each key is removed once.
 */
class RecentMessages {
  /** By ids, users, and texts of users. */
  readonly #byKey = new LRUCache<string, number[]>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_messages, key) => ENTRY_CHARACTERS + key.length,
  })
  readonly removed: number[] = []

  add(message: number, { id, userId, text }: RawMessage): void {
    for (const key of [keyOf('id', id), keyOf('user', userId), keyOf('text', userId, text)]) {
      if (key === undefined) continue
      const known = this.#byKey.get(key)
      if (known === undefined) this.#byKey.set(key, [message])
      else known.push(message)
    }
  }

  /** By the id, else by the text of a user, else all of the user. */
  remove({ id, userId, text }: Removal): void {
    const ofUser = text === undefined ? keyOf('user', userId) : keyOf('text', userId, text)
    const key = id === undefined ? ofUser : keyOf('id', id)
    if (key === undefined) return
    for (const message of this.#byKey.get(key) ?? []) this.removed.push(message)
    this.#byKey.delete(key)
  }
}

function keyOf(kind: string, ...parts: unknown[]): string | undefined {
  if (!parts.every((part) => typeof part === 'string' && part !== '')) return undefined
  const key = [kind, ...parts].join('\n')
  return key.length <= MAX_KEY_LENGTH ? key : undefined
}

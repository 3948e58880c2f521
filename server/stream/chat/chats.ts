// The chats of sessions: stored, or read once for all requests of a process.
import { LRUCache } from 'lru-cache'
import { withTimeout } from '../../../shared/with-timeout.ts'
import { SharedWork } from '../../base/admission/shared-work.ts'
import { AppError } from '../../base/errors.ts'
import type { RenderedSprite, SpritePlan } from '../../decode/emotes/emote-sprite.ts'
import { chatBase } from '../../library/metadata/chat-files.ts'
import type { ChatFile } from '../../library/metadata/chat-files.ts'
import { startTimeMs } from '../../library/catalog/names/start-time.ts'
import { findPack, readBucket } from '../../media/chat/chat-buckets.ts'
import type { EmbeddedEmote } from '../../media/chat/embedded-emotes.ts'
import type { ChatPart } from '../../media/chat/chat-timeline.ts'
import type { ChatJob, ChatOutcome, ReadChat } from '../../media/chat/read-chat.ts'
import { BUCKET_MS } from '../../media/chat/message-store.ts'
import { isSettled } from '../../storage/recordings/settled.ts'
import { ChatCache } from './chat-cache.ts'
import type { ChatCacheOptions, DrawnChat, StoredChat } from './chat-cache.ts'

/** A session with chat files. */
export interface ChatSession {
  /** Identifies the session. */
  key: string
  files: readonly ChatFile[]
  /** Its recordings. */
  parts: readonly { path: string; startSeconds: number; durationSeconds: number }[]
  /** When the session started, in milliseconds since 1970. */
  startMs: number | undefined
  /** How much later messages are shown than their times say. */
  offsetSeconds: number
  isGrowing: boolean
  /** Users whose messages are hidden, as `foldUser` returns them. */
  hiddenUsers: readonly string[]
}

/** Names a bucket. */
export interface BucketAddress {
  version: string
  bucket: number
}

export interface FoundBucket {
  json: string
  /** It never changes. */
  isFinal: boolean
}

/** With its packs, if they are in memory. */
type Chat = StoredChat & Partial<Pick<ReadChat, 'bytes'>>

export interface FoundChat {
  counts: number[]
  /** For all buckets; of a growing chat, it identifies all but the last one. */
  version: string
  isGrowing: boolean
  emotes?: SpritePlan | undefined
}

export interface ChatsOptions extends ChatCacheOptions {
  /** Reads a chat off the event loop, when there is room for it. */
  readChat(this: void, job: ChatJob): Promise<ChatOutcome>
  /** Draws the emotes of a chat. Default none are shown. */
  drawEmotes?: ((this: void, emotes: EmbeddedEmote[]) => Promise<RenderedSprite>) | undefined
  /** A file without a write for this time counts as finished. */
  settleSeconds: number
}

export const BUCKET_SECONDS = BUCKET_MS / 1000
/** Longest wait of a request for a chat that is not stored; it is read nevertheless. */
const READ_WAIT_MS = 8000
const MAX_KNOWN_CHATS = 1000
/** Before a chat is read again that a process could not read or draw, maybe on a busy machine. */
const RETRY_MS = 60 * 60 * 1000
/** Of the packs of growing chats. */
const MAX_GROWING_BYTES = 64 * 1024 * 1024
/** A growing chat is read again after this time, or after this multiple of what a read takes. */
const GROWING_EVERY_MS = 3000
const GROWING_PAUSES = 2
/** Requests wait for a read that was shorter the last time. */
const SHORT_READ_MS = 1000

type Refused = Extract<ChatOutcome, { status: 'refused' }>
type Known = StoredChat | Refused
type Outcome = DrawnChat | Refused

interface Search {
  signal: AbortSignal
  /** The version that a request names. */
  wanted?: string
}

interface GrowingChat {
  key: string
  outcome: Outcome
  readAtMs: number
  tookMs: number
}

export class Chats {
  readonly #options: ChatsOptions
  readonly #cache: ChatCache
  /** Finished chats by what they are made of. */
  readonly #known = new LRUCache<string, Known>({
    max: MAX_KNOWN_CHATS,
    ttlResolution: 0,
    perf: { now: () => performance.now() },
  })
  /** By session and hidden users. */
  readonly #growing = new LRUCache<string, GrowingChat>({
    maxSize: MAX_GROWING_BYTES,
    sizeCalculation: ({ outcome }) =>
      outcome.status === 'read' ? outcome.bytes.reduce((sum, { length }) => sum + length, 1000) : 1,
  })
  readonly #reads = new SharedWork<Outcome>()
  readonly #unending = new AbortController().signal

  constructor(options: ChatsOptions) {
    this.#options = options
    this.#cache = new ChatCache(options)
  }

  /**
   * The chat of a session; undefined if it has none, or it is refused.
   *
   * @throws AppError `busy` while it is being read; `failed` if it cannot be read; the signal's
   *   reason
   */
  async find(session: ChatSession, signal: AbortSignal): Promise<FoundChat | undefined> {
    const job = this.#plan(session)
    const chat = await this.#find(session, job, { signal })
    if (chat === undefined) return undefined
    const { isGrowing } = job
    const { counts, versions, emotes } = chat
    const identified = Math.max(0, counts.length - (isGrowing ? 1 : 0))
    return { counts, version: versions[identified] ?? '', isGrowing, emotes }
  }

  /** The JSON of a bucket; undefined if there is none. @throws as `find` */
  async bucket(
    session: ChatSession,
    address: BucketAddress,
    signal: AbortSignal,
  ): Promise<FoundBucket | undefined> {
    const job = this.#plan(session)
    const chat = await this.#find(session, job, { signal, wanted: address.version })
    const known = chat && (await this.#bucketOf(chat, address, signal))
    if (known !== 'lost') return known
    const read = await this.#readFinished(job, signal)
    const again = read.status === 'read' ? await this.#bucketOf(read, address, signal) : undefined
    return again === 'lost' ? undefined : again
  }

  /** The image of emotes that `find` names; undefined for another version. @throws as `find` */
  async emotes(
    session: ChatSession,
    version: string,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const job = this.#plan(session)
    const known = await this.#find(session, job, { signal })
    if (known?.emotes?.version !== version) return undefined
    const stored = await this.#cache.findImage(version, signal)
    if (stored !== undefined) return stored
    // A decoder that is killed now leaves out an emote that was drawn before.
    const read = await this.#readFinished(job, signal)
    return read.status === 'read' && read.emotes?.version === version ? read.image : undefined
  }

  /** A chat that grows is read again and again: its emotes are words. */
  #plan(session: ChatSession): ChatJob {
    const job = planChat(session, this.#options.settleSeconds)
    const withEmotes = this.#options.drawEmotes !== undefined && !job.isGrowing
    return withEmotes ? { ...job, withEmotes } : job
  }

  /** Undefined if there is none; lost if its pack was evicted, or is corrupt. */
  async #bucketOf(
    chat: Chat,
    { version, bucket }: BucketAddress,
    signal: AbortSignal,
  ): Promise<FoundBucket | 'lost' | undefined> {
    const identified = chat.versions.indexOf(version)
    const pack = findPack(chat, bucket)
    if (identified === -1 || pack === undefined) return undefined
    const bytes = chat.bytes?.[pack] ?? (await this.#cache.findPack(chat, pack, signal))
    const json = bytes && readBucket(chat, bucket, { pack, bytes })
    return json === undefined ? 'lost' : { json, isFinal: bucket < identified }
  }

  /** The chat as it is known, or read. */
  async #find(session: ChatSession, job: ChatJob, search: Search): Promise<Chat | undefined> {
    if (job.files.length === 0) return undefined
    const found = job.isGrowing
      ? await this.#findGrowing(session, job, search)
      : await this.#findFinished(job, search.signal)
    return found.status === 'read' ? found : undefined
  }

  async #findFinished(job: ChatJob, signal: AbortSignal): Promise<Known> {
    const key = keyOf(job)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const stored = await this.#cache.find(key, signal)
    if (stored === undefined) return this.#readFinished(job, signal)
    this.#known.set(key, stored)
    return stored
  }

  async #findGrowing(
    session: ChatSession,
    job: ChatJob,
    { signal, wanted }: Search,
  ): Promise<Outcome> {
    const key = keyOf(job)
    // A state with a message that is hidden by now is no state of this chat.
    const name = JSON.stringify([session.key, session.hiddenUsers])
    const before = this.#growing.get(name)
    const pauseMs = Math.max(GROWING_EVERY_MS, GROWING_PAUSES * (before?.tookMs ?? 0))
    const isRecent = before !== undefined && performance.now() - before.readAtMs < pauseMs
    if (before !== undefined && (isRecent || before.key === key)) return before.outcome
    const read = async (): Promise<Outcome> => {
      const startedMs = performance.now()
      const outcome = await this.#read(job)
      const readAtMs = performance.now()
      this.#growing.set(name, { key, outcome, readAtMs, tookMs: readAtMs - startedMs })
      return outcome
    }
    const reading = this.#join(`growing ${name}`, read, signal)
    // Another process may be ahead of this one.
    const isBehind = wanted !== undefined && !hasVersion(before?.outcome, wanted)
    if (before === undefined || before.tookMs < SHORT_READ_MS || isBehind) return reading
    // A later request gets what is read now.
    reading.catch(() => undefined)
    return before.outcome
  }

  /** Reads a finished chat and stores it. */
  async #readFinished(job: ChatJob, signal: AbortSignal): Promise<Outcome> {
    const key = keyOf(job)
    const read = async (): Promise<Outcome> => {
      const outcome = await this.#read(job)
      const known = outcome.status === 'read' ? await this.#cache.add(key, outcome) : outcome
      this.#known.set(key, known, { ttl: isLasting(outcome) ? 0 : RETRY_MS })
      return outcome
    }
    return this.#join(key, read, signal)
  }

  async #read(job: ChatJob): Promise<Outcome> {
    const outcome = await this.#options.readChat(job)
    if (outcome.status === 'refused') return outcome
    const { emotes = [], ...chat } = outcome
    const drawn = emotes.length > 0 ? await this.#options.drawEmotes?.(emotes) : undefined
    return { ...chat, ...(drawn ?? { isLasting: true }) }
  }

  /** Waits for the only read of a chat, which goes on if nothing waits for it any more. */
  async #join(key: string, read: () => Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
    const reason = (): AppError => new AppError('busy', 'the chat is being read; try again soon')
    const limit = { timeoutMs: READ_WAIT_MS, signal, reason }
    return withTimeout(async () => this.#reads.join(key, this.#unending, read), limit)
  }
}

/** Whether reading it again gives the same. */
function isLasting(outcome: Outcome): boolean {
  return outcome.status === 'read' ? outcome.isLasting : outcome.reason?.code !== 'reader-ended'
}

function hasVersion(outcome: Outcome | undefined, version: string): boolean {
  return outcome?.status === 'read' && outcome.versions.includes(version)
}

/** Which file covers which recordings. */
function planChat(session: ChatSession, settleSeconds: number): ChatJob {
  const { files, parts, startMs, offsetSeconds, hiddenUsers } = session
  const places = parts.map(({ path, startSeconds, durationSeconds }, nth) => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const base = chatBase(name)
    const namedMs = startTimeMs({ date: '', sessionId: '', fileName: base })
    const part: ChatPart = {
      startSeconds,
      durationSeconds,
      startMs: (nth === 0 ? startMs : undefined) ?? namedMs,
    }
    return { base, part }
  })
  const nowMs = Date.now()
  const isGrowing =
    session.isGrowing || files.some(({ stat }) => !isSettled(stat, settleSeconds, nowMs))
  return {
    isGrowing,
    offsetSeconds,
    hiddenUsers,
    files: files.flatMap(({ path, stat: { version }, part }) => {
      const covered = places.filter(({ base }) => part === undefined || part === base)
      const placed = covered.map(({ part: place }, nth) =>
        isGrowing && nth === covered.length - 1 ? { ...place, durationSeconds: 0 } : place,
      )
      return placed.length === 0 ? [] : [{ path, version, parts: placed }]
    }),
  }
}

/** What the chat is made of. */
function keyOf(job: ChatJob): string {
  return JSON.stringify(job)
}

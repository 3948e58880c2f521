// Reads the chat files of a session: bytes in chunks, to messages, to buckets.
import { pipeline, Readable } from 'node:stream'
import { constants, createGunzip, gunzipSync } from 'node:zlib'
import { codeOf, limitExceeded, UnplayableError } from '../../base/errors.ts'
import type { UnplayableReason } from '../../base/problem.ts'
import { packBuckets } from './chat-buckets.ts'
import type { PackedChat } from './chat-buckets.ts'
import { findChatFormat, HEAD_LENGTH } from './chat-formats.ts'
import type { ChatFormat } from './chat-formats.ts'
import type { ChatSink, ChatVideo } from './chat-message.ts'
import { createChatTimeline } from './chat-timeline.ts'
import type { ChatPart, ChatTimelineOptions } from './chat-timeline.ts'
import { EmbeddedEmotes } from './embedded-emotes.ts'
import type { EmbeddedEmote } from './embedded-emotes.ts'
import { CHAT_LIMITS, MessageStore } from './message-store.ts'
import type { ChatLimits } from './message-store.ts'
import { createDecoder, MARK_BYTES } from './decode-text.ts'
import type { DecodeText } from './decode-text.ts'
import type { RecordSplitter } from './record-splitter.ts'

const UNPACKED_BYTES = 256 * 1024
const GZIP_MAGIC = [0x1f, 0x8b] as const

/** The chat files of a session, and what they cover. */
export interface ChatJob {
  /** In the order of the session; `version` is `FileStat.version`. */
  files: { path: string; version: string; parts: ChatPart[] }[]
  /** The duration of the last part of each file is then unknown: 0. */
  isGrowing: boolean
  /** How much later messages are shown; an operator may correct their times. */
  offsetSeconds: number
  /** Users whose messages are left out, as `foldUser` returns them. */
  hiddenUsers: readonly string[]
  /** Default without the images of emotes. */
  withEmotes?: boolean
}

export type ReadChat = PackedChat & { status: 'read'; emotes?: EmbeddedEmote[] }

/** Refused: none of the files is a chat, or one exceeds a limit. */
export type ChatOutcome = ReadChat | { status: 'refused'; reason?: UnplayableReason }

/**
 * Memory is bounded by the limits of `MessageStore`, whatever the size of the files.
 *
 * @param chunksOf the bytes of a file, which are read in order
 * @throws whatever `chunksOf` throws, but for `UnplayableError`
 */
export async function readChat(
  { files, isGrowing, offsetSeconds, hiddenUsers, withEmotes = false }: ChatJob,
  chunksOf: (file: ChatJob['files'][number]) => AsyncIterable<Uint8Array>,
  limits: ChatLimits = CHAT_LIMITS,
): Promise<ChatOutcome> {
  const store = new MessageStore(limits, hiddenUsers)
  const emotes = withEmotes ? new EmbeddedEmotes() : undefined
  try {
    for (const file of files) {
      const reader = new ChatFileReader({ store, emotes, maxBytes: limits.bytes })
      for await (const chunk of unpack(chunksOf(file))) reader.add(chunk)
      reader.end({ parts: file.parts, isGrowing, offsetSeconds })
    }
  } catch (error) {
    if (!(error instanceof UnplayableError)) throw error
    return { status: 'refused', reason: error.reason }
  }
  if (store.size === 0) return { status: 'refused' }
  return { status: 'read', ...(await packBuckets(store)), ...(emotes && { emotes: emotes.list() }) }
}

/** The bytes of a file, or what can be unpacked of a compressed, maybe corrupt one. */
async function* unpack(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  const iterator = chunks[Symbol.asyncIterator]()
  const { value: first = new Uint8Array() } = await iterator.next()
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  if (!isGzip(first)) return yield* all()
  const packed = Readable.from(all(), { highWaterMark: 1 })
  const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: UNPACKED_BYTES })
  try {
    // The loop gets its errors.
    yield* pipeline(packed, gunzip, () => undefined) as AsyncIterable<Uint8Array>
  } catch (error) {
    if (!codeOf(error).startsWith('Z_')) throw error
  }
}

interface FileTarget {
  store: MessageStore
  emotes: EmbeddedEmotes | undefined
  maxBytes: number
}

/** Takes the unpacked bytes of one file. */
class ChatFileReader {
  readonly #store: MessageStore
  readonly #emotes: EmbeddedEmotes | undefined
  readonly #maxBytes: number
  #sizeBytes = 0
  #decode: DecodeText | undefined
  /** The first bytes, until they show the encoding. */
  #start: Uint8Array = new Uint8Array()
  /** The start of the file, until it shows the format. */
  #head: string | undefined = ''
  #format: ChatFormat | undefined
  #splitter: RecordSplitter | undefined
  #video: ChatVideo = {}

  constructor({ store, emotes, maxBytes }: FileTarget) {
    this.#store = store
    this.#emotes = emotes
    this.#maxBytes = maxBytes
  }

  /** @throws UnplayableError if a limit is exceeded */
  add(bytes: Uint8Array): void {
    this.#sizeBytes += bytes.length
    if (this.#sizeBytes > this.#maxBytes) throw limitExceeded('chat-bytes', this.#maxBytes)
    if (this.#head === undefined && this.#format === undefined) return
    const text = this.#decode?.(bytes) ?? this.#decodeStart(bytes)
    if (this.#head === undefined) return this.#splitter?.add(text)
    this.#head += text
    if (this.#head.length >= HEAD_LENGTH) this.#findFormat(this.#head)
  }

  #decodeStart(bytes: Uint8Array): string {
    this.#start = Buffer.concat([this.#start, bytes])
    if (this.#start.length < MARK_BYTES) return ''
    this.#decode = createDecoder(this.#start)
    return this.#decode(this.#start)
  }

  end(place: Pick<ChatTimelineOptions, 'parts' | 'isGrowing' | 'offsetSeconds'>): void {
    if (this.#head !== undefined) this.#findFormat(this.#head)
    if (this.#format === undefined) return
    this.#splitter?.end(place.isGrowing)
    const [{ time }, { first }, video] = [this.#format, this.#store, this.#video]
    this.#store.endFile(createChatTimeline({ ...place, time, video, first }))
  }

  #findFormat(head: string): void {
    this.#head = undefined
    const format = findChatFormat(head.slice(0, HEAD_LENGTH))
    if (format === undefined) return
    this.#format = format
    const sink: ChatSink = {
      message: (message) => {
        const { size } = this.#store
        this.#store.add(message)
        if (this.#store.size > size) this.#emotes?.addMessage(message)
      },
      video: (video) => (this.#video = video),
      removed: (removal) => this.#store.remove(removal),
      emote: (emote) => this.#emotes?.add(emote),
    }
    this.#splitter = format.split((record) => format.read(record, sink))
    this.#splitter.add(head)
  }
}

/** Whether a file is a chat, by its first bytes: at least 4 KiB of them, if it has as many. */
export function isChat(bytes: Uint8Array): boolean {
  const plain = isGzip(bytes) ? gunzipStart(bytes.subarray(0, 4096)) : bytes
  const head = createDecoder(plain)(plain)
  return findChatFormat(head.slice(0, HEAD_LENGTH)) !== undefined
}

/** At most four megabytes: deflate expands 1032 times. */
function gunzipStart(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })
  } catch {
    return new Uint8Array()
  }
}

function isGzip(bytes: Uint8Array): boolean {
  return GZIP_MAGIC.every((byte, at) => bytes[at] === byte)
}

// Reads the chat files of a session: bytes in chunks, to messages, to buckets.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { TextDecoder } from 'node:util'
import { constants, createGunzip, gunzipSync } from 'node:zlib'
import { codeOf, UnplayableError } from '../../base/errors.ts'
import type { UnplayableReason } from '../../base/problem.ts'
import { readAhead } from '../../storage/recordings/read-ahead.ts'
import type { OpenFile, Storage } from '../../storage/recordings/storage.ts'
import { packBuckets } from './chat-buckets.ts'
import type { PackedChat } from './chat-buckets.ts'
import { findChatFormat, HEAD_LENGTH } from './chat-formats.ts'
import type { ChatFormat } from './chat-formats.ts'
import type { ChatSink, ChatVideo } from './chat-message.ts'
import { createChatTimeline } from './chat-timeline.ts'
import type { ChatPart } from './chat-timeline.ts'
import { CHAT_LIMITS, limitExceeded, MessageStore } from './message-store.ts'
import type { ChatLimits } from './message-store.ts'
import type { RecordSplitter } from './record-splitter.ts'

const CHUNK_BYTES = 256 * 1024
const GZIP_MAGIC = [0x1f, 0x8b] as const

/** The chat files of a session, and what they cover. */
export interface ChatJob {
  /** In the order of the session. */
  files: { path: string; parts: ChatPart[] }[]
  /** The duration of the last part of each file is then unknown: 0. */
  isGrowing: boolean
}

export interface ReadChat extends Omit<PackedChat, 'leftOut'> {
  status: 'read'
  total: number
  /** Messages before or after the recording. */
  outside: number
  /** Records that are malformed or too long, and messages beyond the limits of a minute. */
  skipped: number
}

/** None of the files is a chat, or one exceeds a limit. */
export type ChatOutcome = ReadChat | { status: 'refused'; reason?: UnplayableReason }

/**
 * Memory is bounded by the limits of `MessageStore`, whatever the size of the files.
 *
 * @throws AppError `not_found`, `busy` or `failed` if a file cannot be read
 */
export async function readChat(
  storage: Pick<Storage, 'open'>,
  { files, isGrowing }: ChatJob,
  limits: ChatLimits = CHAT_LIMITS,
): Promise<ChatOutcome> {
  const store = new MessageStore(limits)
  let skipped = 0
  try {
    for (const { path, parts } of files) {
      const reader = new ChatFileReader(store, () => (skipped += 1))
      await readFile(storage, path, { reader, isGrowing, maxBytes: limits.bytes })
      reader.end(parts, isGrowing)
    }
  } catch (error) {
    if (!(error instanceof UnplayableError)) throw error
    return { status: 'refused', reason: error.reason }
  }
  if (store.size === 0) return { status: 'refused' }
  const { leftOut, ...packed } = await packBuckets(store)
  const total = packed.counts.reduce((sum, count) => sum + count, 0)
  const { outside } = store
  return { status: 'read', total, outside, skipped: skipped + leftOut, ...packed }
}

interface FileTarget {
  reader: ChatFileReader
  isGrowing: boolean
  maxBytes: number
}

async function readFile(
  storage: Pick<Storage, 'open'>,
  path: string,
  { reader, isGrowing, maxBytes }: FileTarget,
): Promise<void> {
  const file = await storage.open(path)
  try {
    if (file.stat.sizeBytes > maxBytes) throw limitExceeded('chat-bytes', maxBytes)
    const chunks = readChunks(readAhead(file))
    const first = await chunks.next()
    if (first.done) return
    if (!isGzip(first.value)) await readPlain(first.value, chunks, reader)
    else await unpack(first.value, chunks, { reader, maxBytes })
    await (isGrowing ? undefined : file.checkUnchanged())
  } finally {
    await file.close()
  }
}

/** Each chunk is valid until the next one is requested. */
async function* readChunks(file: OpenFile): AsyncGenerator<Uint8Array, undefined> {
  const buffer = Buffer.alloc(CHUNK_BYTES)
  for (let position = 0; position < file.stat.sizeBytes;) {
    const count = await file.read(buffer, position)
    if (count === 0) return
    position += count
    yield buffer.subarray(0, count)
  }
}

async function readPlain(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
  reader: ChatFileReader,
): Promise<void> {
  reader.add(first)
  for await (const chunk of rest) reader.add(chunk)
}

/** What can be unpacked of a truncated or corrupt file counts. */
async function unpack(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
  { reader, maxBytes }: Pick<FileTarget, 'reader' | 'maxBytes'>,
): Promise<void> {
  async function* copies(): AsyncGenerator<Buffer> {
    yield Buffer.from(first)
    for await (const chunk of rest) yield Buffer.from(chunk)
  }
  const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: CHUNK_BYTES })
  let sizeBytes = 0
  try {
    await pipeline(Readable.from(copies(), { highWaterMark: 1 }), gunzip, async (unpacked) => {
      for await (const chunk of unpacked as AsyncIterable<Buffer>) {
        sizeBytes += chunk.length
        if (sizeBytes > maxBytes) throw limitExceeded('chat-bytes', maxBytes)
        reader.add(chunk)
      }
    })
  } catch (error) {
    if (!codeOf(error).startsWith('Z_')) throw error
  }
}

/** Takes the unpacked bytes of one file. */
class ChatFileReader {
  readonly #store: MessageStore
  readonly #onSkipped: () => void
  #decoder: TextDecoder | undefined
  /** The start of the file, while its format is unknown. */
  #head = ''
  #format: ChatFormat | 'unknown' | undefined
  #splitter: RecordSplitter | undefined
  #video: ChatVideo = {}

  constructor(store: MessageStore, onSkipped: () => void) {
    this.#store = store
    this.#onSkipped = onSkipped
  }

  /** @throws UnplayableError if a limit is exceeded */
  add(bytes: Uint8Array): void {
    if (this.#format === 'unknown') return
    this.#decoder ??= new TextDecoder(encodingOf(bytes))
    const text = this.#decoder.decode(bytes, { stream: true })
    if (this.#splitter !== undefined) return this.#splitter.add(text)
    this.#head += text
    if (this.#head.length >= HEAD_LENGTH) this.#findFormat()
  }

  end(parts: readonly ChatPart[], isGrowing: boolean): void {
    if (this.#format === undefined) this.#findFormat()
    this.#splitter?.end(isGrowing)
    const { first } = this.#store
    const format = this.#format
    if (format === undefined || format === 'unknown') return
    const options = { time: format.time, video: this.#video, parts, first, isGrowing }
    this.#store.endFile(createChatTimeline(options))
  }

  #findFormat(): void {
    const head = this.#head
    const format = findChatFormat(head.slice(0, HEAD_LENGTH))
    this.#format = format ?? 'unknown'
    this.#head = ''
    if (format === undefined) return
    const sink: ChatSink = {
      message: (message) => this.#store.add(message),
      video: (video) => (this.#video = video),
      removed: (removal) => this.#store.remove(removal),
    }
    this.#splitter = format.split({
      onRecord: (record) => format.read(record, sink),
      onSkipped: this.#onSkipped,
    })
    this.#splitter.add(head)
  }
}

/** Whether a file is a chat, by its first bytes: at least 4 KiB of them, if it has as many. */
export function isChat(bytes: Uint8Array): boolean {
  const plain = isGzip(bytes) ? gunzipStart(bytes.subarray(0, 4096)) : bytes
  const head = new TextDecoder(encodingOf(plain)).decode(plain).slice(0, HEAD_LENGTH)
  return findChatFormat(head) !== undefined
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

/** By the byte order mark; UTF-8 without one. */
function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

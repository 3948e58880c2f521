// Reads chats in a child process, so that a hostile file costs its chat and never the server.
import { constants } from 'node:os'
import { AppError, limitExceeded, UnplayableError } from '../../base/errors.ts'
import type { ChatJob, ChatOutcome } from '../../media/chat/read-chat.ts'
import type { EmbeddedEmote } from '../../media/chat/embedded-emotes.ts'
import { CHAT_LIMITS } from '../../media/chat/message-store.ts'
import { readAhead } from '../../storage/recordings/read-ahead.ts'
import type { OpenFile, Storage } from '../../storage/recordings/storage.ts'
import { childFile, createDecoderPool } from '../child/decoder-pool.ts'
import type { ChildOptions, DecoderPool, RunJob } from '../child/decoder-pool.ts'
import type { DecoderLimits } from '../child/decoder-process.ts'
import { chatReplySchema } from './chat-exchange.ts'
import type { ChatMessage, ChatReply } from './chat-exchange.ts'

export interface ChatReader extends Pick<DecoderPool<ChatMessage>, 'close'> {
  /**
   * Rejects with AppError `busy` if too many chats wait, or a file has another version and is not
   * growing; `not_found`, `busy` or `failed` if it cannot be read, `failed` if no process starts;
   * and with the signal's reason.
   */
  read(this: void, job: ChatJob, signal: AbortSignal): Promise<ChatOutcome>
}

const MAX_WAITING = 64
/** A job reads a chunk, which may be compressed, or packs all buckets. */
const LIMITS: DecoderLimits = {
  startMs: 15_000,
  jobMs: 60_000,
  residentBytes: 384 * 1024 * 1024,
  cpuSeconds: 300,
  // Longer than the pause between two reads of a growing chat.
  idleMs: 15_000,
}
/** In MiB. Chunks and records are garbage soon: the default needs 150 MiB more. */
const YOUNG_GENERATION = '--max-semi-space-size=2'
const CHUNK_BYTES = 256 * 1024
/** Of all packs and emotes: more than the limits of `media/chat` permit. */
const MAX_RESULT_BYTES = 256 * 1024 * 1024
/** Counted for each besides its bytes: empty ones take memory, too. */
const ENTRY_BYTES = 4096
const NO_BYTES = new Uint8Array()

/** Starts a process on demand, reuses it, and ends it when it is idle. */
export function createChatReader(
  storage: Pick<Storage, 'open'>,
  options?: ChildOptions,
): ChatReader {
  const program = {
    file: childFile('chat-child', import.meta.url),
    name: 'chat reader',
    // Serving has priority.
    niceness: constants.priority.PRIORITY_BELOW_NORMAL,
    nodeOptions: [YOUNG_GENERATION],
  }
  const queue = {
    limit: 1,
    waiting: MAX_WAITING,
    busyMessage: 'Too many chats are being read; try again soon',
  }
  const pool = createDecoderPool<ChatMessage>({ program, limits: LIMITS, queue }, options)
  return {
    read: async (job, signal) =>
      pool.lease(async (run) => {
        const chunks = readFiles(storage, job)
        try {
          return await readInChild(job, run, chunks)
        } catch (error) {
          if (!(error instanceof UnplayableError)) throw error
          return { status: 'refused', reason: error.reason }
        } finally {
          await chunks.return()
        }
      }, signal),
    close: () => pool.close(),
  }
}

/** What the child replies is not trusted. @param chunks as of `readFiles` */
export async function readInChild(
  job: ChatJob,
  run: RunJob<ChatMessage>,
  chunks: AsyncGenerator<Uint8Array, void>,
): Promise<ChatOutcome> {
  const packs: Uint8Array<ArrayBuffer>[] = []
  const emotes: EmbeddedEmote[] = []
  let resultBytes = 0
  const parse = (value: unknown): ChatReply | undefined => {
    const { data } = chatReplySchema.safeParse(value)
    if (data?.kind === 'pack') resultBytes += ENTRY_BYTES + data.bytes.length
    if (data?.kind === 'emote') resultBytes += ENTRY_BYTES + data.name.length + data.data.length
    return resultBytes <= MAX_RESULT_BYTES ? data : undefined
  }
  let message: ChatMessage = { kind: 'read', job }
  for (;;) {
    const result = await run({ job: message, parse })
    if (result.status !== 'done') return { status: 'refused', reason: { code: 'reader-ended' } }
    const reply = result.value
    switch (reply.kind) {
      case 'refused':
        return { status: 'refused', ...(reply.reason && { reason: reply.reason }) }
      case 'read':
        return { status: 'read', ...reply.table, bytes: packs, emotes }
      case 'pack':
        packs.push(reply.bytes)
        message = { kind: 'bytes', bytes: NO_BYTES }
        break
      case 'emote':
        emotes.push({ name: reply.name, data: reply.data })
        message = { kind: 'bytes', bytes: NO_BYTES }
        break
      case 'next-bytes': {
        const next = await chunks.next()
        message = { kind: 'bytes', bytes: next.value ?? NO_BYTES }
      }
    }
  }
}

/** The bytes of all files, each with an empty chunk at its end. */
async function* readFiles(
  storage: Pick<Storage, 'open'>,
  { files, isGrowing }: ChatJob,
): AsyncGenerator<Uint8Array, void> {
  for (const { path, version } of files) {
    const file = await storage.open(path)
    try {
      const { stat } = file
      if (!isGrowing && stat.version !== version) {
        throw new AppError('busy', 'the chat file has changed; try again soon')
      }
      if (stat.sizeBytes > CHAT_LIMITS.bytes) throw limitExceeded('chat-bytes', CHAT_LIMITS.bytes)
      yield* readChunks(readAhead(file))
      if (!isGrowing) await file.checkUnchanged()
    } finally {
      await file.close()
    }
    yield NO_BYTES
  }
}

/** Each chunk is valid until the next one is requested. */
async function* readChunks(file: OpenFile): AsyncGenerator<Uint8Array, void> {
  const buffer = Buffer.alloc(CHUNK_BYTES)
  for (let position = 0; position < file.stat.sizeBytes;) {
    const count = await file.read(buffer, position)
    if (count === 0) return
    position += count
    yield buffer.subarray(0, count)
  }
}

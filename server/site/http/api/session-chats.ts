// The chat of a session as it is now, for the endpoints of chats.
import type { Gate } from '../../../base/admission/gate.ts'
import type { Admission } from '../../../base/admission/limits.ts'
import { AppError } from '../../../base/errors.ts'
import { sessionKey } from '../../../../shared/paths.ts'
import { ImageBuffers } from '../../../decode/thumbnails/image-buffers.ts'
import type { Leased } from '../../../decode/thumbnails/image-buffers.ts'
import type { Catalog, SessionRow } from '../../../library/catalog/catalog.ts'
import type { ChatFiles } from '../../../library/metadata/chat-files.ts'
import type { Sidecars } from '../../../library/metadata/sidecars.ts'
import type {
  BucketAddress,
  Chats,
  ChatSession,
  FoundBucket,
  FoundChat,
} from '../../../stream/chat/chats.ts'
import type { SessionOpener } from '../../../stream/hls/session/session-opener.ts'

export interface SessionChatsOptions {
  catalog: Pick<Catalog, 'hiddenChatUsers'>
  chatFiles: ChatFiles
  chats: Chats
  sessions: SessionOpener
  sidecars: Sidecars
  admission: Pick<Admission, 'recordings' | 'imageBytes'>
}

/** Images of emotes that no request sends now. */
const MAX_IDLE_BYTES = 8 * 1024 * 1024

export class SessionChats {
  readonly #options: SessionChatsOptions
  readonly #gate: Gate
  readonly #images: ImageBuffers<{ bytes: Uint8Array }>

  constructor(options: SessionChatsOptions) {
    this.#options = options
    const { recordings, imageBytes } = options.admission
    this.#gate = recordings
    this.#images = new ImageBuffers({ gate: imageBytes, maxIdleBytes: MAX_IDLE_BYTES })
  }

  /** Whether there are chat files to serve. @throws AppError `busy`; the signal's reason */
  async has(row: SessionRow, signal: AbortSignal): Promise<boolean> {
    const { chatFiles, sidecars } = this.#options
    const files = await chatFiles.find(row, signal)
    return files.length > 0 && (await sidecars.chat(row, signal)).chat !== false
  }

  /** @throws AppError `not_found` without a chat; as `SessionOpener.open` and `Chats.find` */
  async find(row: SessionRow, signal: AbortSignal): Promise<FoundChat> {
    const session = await this.#open(row, signal)
    const found = session && (await this.#options.chats.find(session, signal))
    if (found === undefined) throw new AppError('not_found', 'there is no chat')
    return found
  }

  /** @throws as `find` */
  async bucket(row: SessionRow, address: BucketAddress, signal: AbortSignal): Promise<FoundBucket> {
    const session = await this.#open(row, signal)
    const found = session && (await this.#options.chats.bucket(session, address, signal))
    if (found === undefined) throw new AppError('not_found', 'there is no such file')
    return found
  }

  /** The image of emotes. @throws as `find` */
  async emotes(
    row: SessionRow,
    version: string,
    signal: AbortSignal,
  ): Promise<Leased<{ bytes: Uint8Array }>> {
    const { chats } = this.#options
    const session = await this.#open(row, signal)
    const found = session && (await chats.find(session, signal))
    const read = async (all: AbortSignal): Promise<{ bytes: Uint8Array } | undefined> => {
      const bytes = session && (await chats.emotes(session, version, all))
      return bytes && { bytes }
    }
    const isCurrent = found?.emotes?.version === version
    const image = isCurrent ? await this.#images.lease({ key: version, read }, signal) : undefined
    if (image === undefined) throw new AppError('not_found', 'there is no such file')
    return image
  }

  /** Undefined without chat files, or if the chat is off. */
  async #open(row: SessionRow, signal: AbortSignal): Promise<ChatSession | undefined> {
    const { catalog, chatFiles, sessions, sidecars } = this.#options
    const files = await chatFiles.find(row, signal)
    if (files.length === 0) return undefined
    const { startMs = row.startMs } = await sidecars.session(row, signal)
    const { chat, chatOffsetSeconds: offsetSeconds = 0 } = await sidecars.chat(row, signal)
    if (chat === false) return undefined
    return this.#gate.run(async () => {
      const session = await sessions.open(row)
      const { parts, isGrowing } = session
      await session.close()
      const hiddenUsers = catalog.hiddenChatUsers(row.streamer)
      const key = sessionKey(row)
      return { key, files, parts, startMs, offsetSeconds, isGrowing, hiddenUsers }
    }, signal)
  }
}

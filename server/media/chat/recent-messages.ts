// The messages of a file by what removals name: removals follow the messages that they concern.
import { LRUCache } from 'lru-cache'
import type { RawMessage, Removal } from './chat-message.ts'

/** Characters of all keys, which those of about 20,000 messages have. */
const MAX_CHARACTERS = 8 * 1024 * 1024
/** Memory of a key without text. */
const ENTRY_CHARACTERS = 100
/** Of an id, or of a user and a text. */
const MAX_KEY_LENGTH = 700

/** Takes linear time: each key is removed once. */
export class RecentMessages {
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

// The latest messages of a live capture, and which of them were removed afterwards.
import type { RawMessage, Removal } from './chat-message.ts'

/** Removals concern recent messages; all of a busy chat would take too much memory. */
const MAX_RECENT = 20_000
/** Of an id, or of a user and a text. */
const MAX_KEY_LENGTH = 700

interface Recent {
  keys: string[]
  user: string | undefined
}

/** Takes linear time: a removal finds its messages by a key, and removes each once. */
export class RecentMessages {
  readonly #messages = new Map<number, Recent>()
  /** Messages by id, and by user and text. */
  readonly #byKey = new Map<string, number>()
  readonly #byUser = new Map<string, Set<number>>()
  readonly removed: number[] = []

  add(message: number, { id, userId, text }: RawMessage): void {
    const user = keyOf('user', userId)
    const keys = [keyOf('id', id), keyOf('text', userId, text)].filter((key) => key !== undefined)
    if (keys.length === 0) return
    if (this.#messages.size === MAX_RECENT) this.#forgetOldest()
    this.#messages.set(message, { keys, user })
    for (const key of keys) this.#byKey.set(key, message)
    if (user === undefined) return
    this.#byUser.set(user, (this.#byUser.get(user) ?? new Set()).add(message))
  }

  remove({ id, userId, text }: Removal): void {
    const key = keyOf('id', id) ?? (text === undefined ? undefined : keyOf('text', userId, text))
    const message = key === undefined ? undefined : this.#byKey.get(key)
    if (message !== undefined) this.#remove(message)
    if (id !== undefined || text !== undefined) return
    const ofUser = this.#byUser.get(keyOf('user', userId) ?? '') ?? []
    for (const each of ofUser) this.#remove(each)
  }

  #remove(message: number): void {
    this.removed.push(message)
    this.#forget(message)
  }

  #forgetOldest(): void {
    const [oldest] = this.#messages.keys()
    if (oldest !== undefined) this.#forget(oldest)
  }

  #forget(message: number): void {
    const { keys = [], user = '' } = this.#messages.get(message) ?? {}
    this.#messages.delete(message)
    for (const key of keys) if (this.#byKey.get(key) === message) this.#byKey.delete(key)
    const ofUser = this.#byUser.get(user)
    ofUser?.delete(message)
    if (ofUser?.size === 0) this.#byUser.delete(user)
  }
}

function keyOf(kind: string, ...parts: unknown[]): string | undefined {
  if (!parts.every((part) => typeof part === 'string' && part !== '')) return undefined
  const key = [kind, ...parts].join('\n')
  return key.length <= MAX_KEY_LENGTH ? key : undefined
}

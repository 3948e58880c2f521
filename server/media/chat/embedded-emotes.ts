// The emotes that are embedded in a chat file, and used in its messages.
import { cleanLine } from '../../base/clean-text.ts'
import { MAX_MESSAGE_LENGTH } from './chat-message.ts'
import type { RawEmote, RawMessage } from './chat-message.ts'

/** A word that an image replaces. The image is untrusted. */
export interface EmbeddedEmote {
  name: string
  data: Uint8Array<ArrayBuffer>
}

/** Larger images, and those that would exceed the sum, are left out. */
const MAX_IMAGE_BYTES = 256 * 1024
const MAX_TOTAL_BYTES = 8 * 1024 * 1024
/** Those that are used most often. */
const MAX_EMOTES = 300
const MAX_NAME_LENGTH = 60
/** Emotes that have an id in messages, and maybe no name among the images. */
const MAX_IDS = 10_000
/** A power of two. */
const WORD_SLOTS = 2 ** 20
/** FNV-1a. */
const HASH_START = 0x811c9dc5
const HASH_FACTOR = 0x01000193

/** Images follow the messages in the files of all known writers; earlier ones count as unused. */
export class EmbeddedEmotes {
  /** Words of messages by their hash: of other words of the same hash, too. */
  readonly #uses = new Uint32Array(WORD_SLOTS)
  readonly #names = new Map<string, string>()
  readonly #found = new Map<string, EmbeddedEmote['data']>()
  #sizeBytes = 0

  addMessage({ text, emotes = [] }: RawMessage): void {
    if (typeof text !== 'string') return
    for (const word of text.slice(0, MAX_MESSAGE_LENGTH).split(' ')) {
      const slot = slotOf(word)
      this.#uses[slot] = this.#usesAt(slot) + 1
    }
    for (const { id, name } of emotes) {
      if (this.#names.size < MAX_IDS) this.#names.set(id, name)
    }
  }

  add({ id = '', name = this.#names.get(id) ?? '', data }: RawEmote): void {
    const isWord = cleanLine(name, MAX_NAME_LENGTH) === name && !name.includes(' ')
    if (!isWord || this.#usesOf(name) === 0 || this.#found.has(name)) return
    const bytes = new Uint8Array(Buffer.from(data, 'base64'))
    const sizeBytes = this.#sizeBytes + bytes.length
    if (bytes.length > MAX_IMAGE_BYTES || sizeBytes > MAX_TOTAL_BYTES) return
    this.#sizeBytes = sizeBytes
    this.#found.set(name, bytes)
  }

  /** The most used first. */
  list(): EmbeddedEmote[] {
    const byUses = [...this.#found.keys()].toSorted((a, b) => this.#usesOf(b) - this.#usesOf(a))
    return byUses.slice(0, MAX_EMOTES).flatMap((name) => {
      const data = this.#found.get(name)
      return data === undefined ? [] : [{ name, data }]
    })
  }

  #usesOf(word: string): number {
    return this.#usesAt(slotOf(word))
  }

  #usesAt(slot: number): number {
    return this.#uses[slot] ?? 0
  }
}

function slotOf(word: string): number {
  let hash = HASH_START
  for (let at = 0; at < word.length; at += 1) {
    hash = Math.imul(hash ^ word.charCodeAt(at), HASH_FACTOR)
  }
  return (hash ^ (hash >>> 15)) & (WORD_SLOTS - 1)
}

// The prepared responses of a process: each name has one, of the version that was requested last.
// The playlist of a growing recording has another version every second.
import { LRUCache } from 'lru-cache'
import { HashedText, TextResponse } from './text-response.ts'
import type { TextHead } from './text-response.ts'
import type { FormattedText, TextBody } from './answer.ts'

/** Memory of all prepared responses. A playlist of a day in segments of 6 s counts 9 MB. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024
/** A larger one would evict too many others. */
const MAX_SHARE = 1 / 4

interface Prepared {
  version: unknown
  response: TextResponse
  validUntilMs: number
}

interface Preparing {
  version: unknown
  response: Promise<TextResponse>
}

export class ResponseCache {
  readonly #prepared: LRUCache<string, Prepared>
  readonly #preparing = new Map<string, Preparing>()

  constructor(maxBytes = MAX_RESPONSE_BYTES) {
    this.#prepared = new LRUCache({
      maxSize: maxBytes,
      maxEntrySize: maxBytes * MAX_SHARE,
      sizeCalculation: sizeOf,
    })
  }

  /** Memory of all responses. */
  get sizeBytes(): number {
    return this.#prepared.calculatedSize
  }

  /** The text with this head, formatted once per version; concurrent requests share it. */
  find({ cached, format }: TextBody, head: () => TextHead): TextResponse | Promise<TextResponse> {
    if (cached === undefined) return withText(format(), (text) => prepare(text, head()).response)
    const { key, version } = cached
    const known = this.#prepared.get(key)
    if (known && isSame(known.version, version) && isValid(known)) return known.response
    const preparing = this.#preparing.get(key)
    if (preparing && isSame(preparing.version, version)) return preparing.response
    const response = withText(format(), (text) => {
      const prepared = { version, ...prepare(text, head()) }
      this.#prepared.set(key, prepared)
      return prepared.response
    })
    if (response instanceof Promise) this.#share(key, { version, response })
    return response
  }

  #share(key: string, preparing: Preparing): void {
    this.#preparing.set(key, preparing)
    const end = (): void => {
      if (this.#preparing.get(key) === preparing) this.#preparing.delete(key)
    }
    preparing.response.then(end, end)
  }
}

/** Lists are the same if their items are. */
function isSame(version: unknown, other: unknown): boolean {
  if (version === other || !Array.isArray(version) || !Array.isArray(other)) {
    return version === other
  }
  return version.length === other.length && version.every((item, at) => item === other[at])
}

function isValid({ validUntilMs }: Prepared): boolean {
  return validUntilMs === Infinity || Date.now() < validUntilMs
}

function withText<Value>(
  text: FormattedText | Promise<FormattedText>,
  convert: (text: FormattedText) => Value,
): Value | Promise<Value> {
  return text instanceof Promise ? text.then(convert) : convert(text)
}

function prepare(text: FormattedText, head: TextHead): Omit<Prepared, 'version'> {
  if (typeof text === 'string' || text instanceof HashedText) {
    return { response: new TextResponse(text, head), validUntilMs: Infinity }
  }
  return { response: new TextResponse(text.text, head), validUntilMs: text.validUntilMs }
}

function sizeOf({ response, version }: Prepared, key: string): number {
  const texts = [key, version].flat().filter((text) => typeof text === 'string')
  const nameLength = texts.reduce((length, text) => length + text.length, 0)
  return response.memoryBytes + 2 * nameLength
}

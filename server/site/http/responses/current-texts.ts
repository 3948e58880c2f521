// Prepared responses of text that changes: each name has one, of the version that was requested
// last. The playlist of a growing recording changes every second.
import { LRUCache } from 'lru-cache'
import type { TextResponse } from './text-response.ts'

interface CurrentText {
  version: string
  response: TextResponse
}

export class CurrentTexts {
  readonly #texts: LRUCache<string, CurrentText>

  /** `maxBytes` limits the memory of all responses together. */
  constructor(maxBytes: number) {
    this.#texts = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ response }) => response.memoryBytes,
    })
  }

  /** Memory of all responses. */
  get sizeBytes(): number {
    return this.#texts.calculatedSize
  }

  /** The response of this version, which replaces another one of the same name. */
  find(name: string, version: string, create: () => TextResponse): TextResponse {
    const known = this.#texts.get(name)
    if (known?.version === version) return known.response
    const response = create()
    this.#texts.set(name, { version, response })
    return response
  }
}

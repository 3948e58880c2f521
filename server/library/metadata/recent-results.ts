// Results of lookups in storage, valid for two seconds.
import { LRUCache } from 'lru-cache'
import { SharedWork } from '../../base/admission/shared-work.ts'

const RECENT_MS = 2000
/** Characters of all results. */
const MAX_CHARACTERS = 4 * 1024 * 1024
/** Memory of a result without text. */
const ENTRY_CHARACTERS = 200

/** Results that are valid for two seconds, so that the number of requests does not matter. */
export class RecentResults<Value extends object> {
  readonly #recent = new LRUCache<string, Value>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (value) => ENTRY_CHARACTERS + JSON.stringify(value).length,
    ttl: RECENT_MS,
  })
  readonly #shared = new SharedWork<Value>()

  /** The result for a key. @throws the signal's reason; what `read` throws, which is not stored */
  async find(
    key: string,
    signal: AbortSignal,
    read: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    const recent = this.#recent.get(key)
    if (recent !== undefined) return recent
    return this.#shared.join(key, signal, async (all) => {
      const value = await read(all)
      this.#recent.set(key, value)
      return value
    })
  }
}

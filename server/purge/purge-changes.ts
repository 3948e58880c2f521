// Follows the changes of the catalog, and purges caches of what was hidden, removed or replaced.
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { SessionReference } from '../../shared/paths.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { HiddenName, HiddenNames } from '../catalog/store/hidden.ts'
import { isAppError } from '../errors.ts'
import { sessionTag, streamerTag } from './cache-tags.ts'
import { Purger } from './purger.ts'

const POLL_MS = 1000
/** After very many changes, all streamers are purged: at most this often. */
const PURGE_ALL_EVERY_MS = 60_000

/** Sessions that grow at the same time; one that was evicted is purged once more. */
const MAX_GROWING = 10_000

export interface PurgeChangesOptions extends ChangeSources {
  /** Addresses of the caches. */
  urls: readonly string[]
  log: { warn(values: object, message: string): void }
  signal: AbortSignal
}

/** Purges until the signal aborts; does nothing without caches. */
export async function purgeChanges(options: PurgeChangesOptions): Promise<void> {
  const { urls, log, signal } = options
  if (urls.length === 0) return
  const purger = new Purger({
    urls,
    onFailure: (url, err) => log.warn({ err, url }, 'a cache could not be purged; retrying'),
    signal,
  })
  const changes = new ChangedTags(options)
  while (!signal.aborted) {
    try {
      purger.purge(changes.next(Date.now()))
    } catch (err) {
      log.warn({ err }, 'the changes to purge could not be read; retrying')
    }
    await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined)
  }
}

export interface ChangeSources {
  catalog: Pick<Catalog, 'changes' | 'findSession' | 'generation' | 'listStreamers'>
  hidden: Pick<HiddenNames, 'list'>
  /** How long a recording may not have changed to be finished. */
  settleMs: number
}

/** The tags of what has changed since the last call. */
export class ChangedTags {
  readonly #sources: ChangeSources
  #generation: number
  #hidden = new Map<string, HiddenName>()
  /** Tags of sessions that were growing when they changed. */
  readonly #growing = new LRUCache<string, true>({ max: MAX_GROWING })
  #allChanged = false
  #purgedAllAtMs = -Infinity

  constructor(sources: ChangeSources) {
    this.#sources = sources
    this.#generation = sources.catalog.generation()
  }

  /** `nowMs` is the time since 1970. */
  next(nowMs: number): string[] {
    const tags = this.#newlyHidden()
    const { catalog } = this.#sources
    const generation = catalog.generation()
    const changes = catalog.changes(this.#generation, generation)
    this.#generation = generation
    if (changes === 'all') this.#allChanged = true
    else tags.push(...changes.flatMap((change) => this.#tagsOf(change, nowMs)))
    if (this.#allChanged && nowMs - this.#purgedAllAtMs >= PURGE_ALL_EVERY_MS) {
      this.#allChanged = false
      this.#purgedAllAtMs = nowMs
      tags.push(...catalog.listStreamers().map(({ name }) => streamerTag(name)))
    }
    return tags
  }

  /** At first all hidden names: they may have been hidden while no server ran. */
  #newlyHidden(): string[] {
    const names = this.#sources.hidden.list()
    const known = this.#hidden
    this.#hidden = new Map(names.map((name) => [JSON.stringify(name), name]))
    return [...this.#hidden].flatMap(([key, name]) => (known.has(key) ? [] : tagsOfHidden(name)))
  }

  #tagsOf(change: SessionReference, nowMs: number): string[] {
    // A whole streamer: it was hidden, or shown again, when no cache has it.
    if (change.sessionId === '') return []
    const tag = sessionTag(change)
    const wasGrowing = this.#growing.delete(tag)
    if (this.#isGrowing(change, nowMs)) this.#growing.set(tag, true)
    // A growing recording retains its URLs, and its playlist expires soon.
    return wasGrowing ? [] : [tag]
  }

  #isGrowing(session: SessionReference, nowMs: number): boolean {
    try {
      const row = this.#sources.catalog.findSession(session)
      return row !== undefined && Math.abs(nowMs - row.modifiedMs) < this.#sources.settleMs
    } catch (error) {
      if (isAppError(error, 'gone')) return false
      throw error
    }
  }
}

/** With the streamer's, because its thumbnail may be of the session. */
function tagsOfHidden(name: HiddenName): string[] {
  const tag = streamerTag(name.streamer)
  return name.kind === 'streamer' ? [tag] : [sessionTag(name), tag]
}

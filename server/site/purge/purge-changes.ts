// Follows the changes of the catalog, and purges caches of what was hidden, removed or replaced.
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { SessionReference } from '../../../shared/paths.ts'
import type { Catalog } from '../../library/catalog/catalog.ts'
import { nameOf } from '../../library/catalog/store/hidden.ts'
import type { HiddenName, HiddenNames } from '../../library/catalog/store/hidden.ts'
import { isAppError } from '../../base/errors.ts'
import { chatTag, SITE_TAG, sessionTag, streamerTag } from './cache-tags.ts'
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

/** What was known at the last call that succeeded. */
interface KnownState {
  generation: number
  hidden: ReadonlySet<string>
  /** Whether there were too many changes to follow, and no purge of all streamers since. */
  isAllChanged: boolean
}

/** The tags of what has changed since the last call. */
export class ChangedTags {
  readonly #sources: ChangeSources
  #known: KnownState
  #isFirst = true
  /** Tags of sessions that were growing when they changed. */
  readonly #growing = new LRUCache<string, true>({ max: MAX_GROWING })
  #purgedAllAtMs = -Infinity

  constructor(sources: ChangeSources) {
    this.#sources = sources
    const generation = sources.catalog.generation()
    this.#known = { generation, hidden: new Set(), isAllChanged: false }
  }

  /**
   * `nowMs` is the time since 1970. Throws the catalog's errors; the next call then returns the
   * tags of these changes, too. The first call returns those of all hidden names: they may have
   * been hidden while no server ran.
   */
  next(nowMs: number): string[] {
    const { catalog, hidden } = this.#sources
    const { generation: before, isAllChanged: wasAllChanged } = this.#known
    const generation = catalog.generation()
    if (generation === before && !this.#isFirst && !wasAllChanged) return []
    const names = new Map(hidden.list().map((name) => [JSON.stringify(name), name]))
    const changes = catalog.changes(before, generation)
    const changed = (changes === 'all' ? [] : changes).map((session) => ({
      session,
      isGrowing: this.#isGrowing(session, nowMs),
    }))
    const isAllChanged = wasAllChanged || changes === 'all'
    // The clock may have been set back.
    const sincePurgedMs = Math.abs(nowMs - this.#purgedAllAtMs)
    const isPurgingAll = isAllChanged && sincePurgedMs >= PURGE_ALL_EVERY_MS
    const streamers = isPurgingAll ? catalog.listStreamers() : []
    // Nothing fails from here on, so that no change is lost.
    const tags = [...names].flatMap(([key, name]) =>
      this.#known.hidden.has(key) ? [] : tagsOfHidden(name),
    )
    for (const { session, isGrowing } of changed) tags.push(...this.#tagsOf(session, isGrowing))
    for (const { name } of streamers) tags.push(streamerTag(name))
    if (isPurgingAll) this.#purgedAllAtMs = nowMs
    this.#isFirst = false
    this.#known = {
      generation,
      hidden: new Set(names.keys()),
      isAllChanged: isAllChanged && !isPurgingAll,
    }
    return tags
  }

  #tagsOf(session: SessionReference, isGrowing: boolean): string[] {
    // A change of a whole streamer: `next` purges the pages of one that was hidden, and of one
    // that is shown again no cache has a page.
    if (session.sessionId === '') return []
    const name = nameOf(session)
    if (name.kind === 'chat-user') return tagsOfHidden(name)
    const tag = sessionTag(session)
    const wasGrowing = this.#growing.delete(tag)
    if (isGrowing) this.#growing.set(tag, true)
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

/** With the streamer's, because its thumbnail may be of the session, and that of the sitemaps. */
function tagsOfHidden(name: HiddenName): string[] {
  if (name.kind === 'chat-user') return [chatTag(name.streamer)]
  const tag = streamerTag(name.streamer)
  return name.kind === 'streamer' ? [tag, SITE_TAG] : [sessionTag(name), tag, SITE_TAG]
}

// What the head of a page shows besides the catalog, read from files and cached for a minute. A
// page never waits long for it, and never fails without it.
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { Gate } from '../../../base/admission/gate.ts'
import type { SessionRow } from '../../../library/catalog/catalog.ts'
import { isAppError } from '../../../base/errors.ts'
import type { Chapter } from '../../../library/metadata/chapters.ts'
import type { Size } from './page-head.ts'

/** All text is untrusted. */
export interface SessionFacts {
  description?: string | undefined
  /** In order of their starts. */
  chapters: readonly Chapter[]
  /** Of the thumbnail; undefined if there is none. */
  imageSize: Size | undefined
}

export interface StreamerFacts {
  displayName?: string | undefined
  description?: string | undefined
  imageSize: Size | undefined
}

/** Reads facts. May reject with an AppError. */
export interface FactSources {
  session(this: void, row: SessionRow, signal: AbortSignal): Promise<SessionFacts>
  streamer(this: void, streamer: string, signal: AbortSignal): Promise<StreamerFacts>
}

/** A page that would wait longer is served without facts; the next one has them. */
const WAIT_MS = 1000
/** Older facts are served once more while they are read again. */
const FRESH_MS = 60_000
const MAX_CHARACTERS = 8 * 1024 * 1024
/** Memory of facts without text. */
const ENTRY_CHARACTERS = 500
/** Further reads wait, as long as their pages do. */
const MAX_READS = 16
const MAX_WAITING = 512

export class PageFacts {
  readonly #log: Pick<FastifyBaseLogger, 'warn'>
  readonly #sessions: Cache<SessionFacts, SessionRow>
  readonly #streamers: Cache<StreamerFacts, string>

  constructor(sources: FactSources, log: Pick<FastifyBaseLogger, 'warn'>) {
    const busyMessage = 'too many descriptions are being read'
    const bounds = { limit: MAX_READS, waiting: MAX_WAITING, waitMs: WAIT_MS }
    const gate = new Gate({ ...bounds, busyMessage })
    this.#log = log
    this.#sessions = this.#createCache(gate, sources.session)
    this.#streamers = this.#createCache(gate, sources.streamer)
  }

  /** Undefined if they are not known soon. */
  async session(row: SessionRow): Promise<SessionFacts | undefined> {
    const key = versionOf(row)
    return find(this.#sessions, key, async () => this.#sessions.fetch(key, { context: row }))
  }

  /** Undefined if they are not known soon. */
  async streamer(streamer: string): Promise<StreamerFacts | undefined> {
    const read = async () => this.#streamers.fetch(streamer, { context: streamer })
    return find(this.#streamers, streamer, read)
  }

  #createCache<Facts extends object, Source extends object | string>(
    gate: Gate,
    read: (source: Source, signal: AbortSignal) => Promise<Facts>,
  ): Cache<Facts, Source> {
    return new LRUCache<string, Facts, Source>({
      maxSize: MAX_CHARACTERS,
      sizeCalculation: (facts) => ENTRY_CHARACTERS + JSON.stringify(facts).length,
      ttl: FRESH_MS,
      allowStale: true,
      allowStaleOnFetchRejection: true,
      fetchMethod: async (_key, _stale, { context, signal }) => {
        try {
          return await gate.run(() => read(context, signal), signal)
        } catch (error) {
          if (!isExpected(error)) {
            this.#log.warn({ err: error }, 'a page is served without its description')
          }
          throw error
        }
      },
    })
  }
}

type Cache<Facts extends object, Source> = LRUCache<string, Facts, Source>

async function find<Facts extends object, Source>(
  cache: Cache<Facts, Source>,
  key: string,
  read: () => Promise<Facts | undefined>,
): Promise<Facts | undefined> {
  const known = cache.getRemainingTTL(key) > 0 ? cache.get(key) : undefined
  if (known !== undefined) return known
  return withTimeout(read, { timeoutMs: WAIT_MS }).catch(() => undefined)
}

function isExpected(error: unknown): boolean {
  return isAppError(error, 'not_found', 'gone', 'unplayable', 'busy', 'failed')
}

/** Changes with the recording and with its title. */
function versionOf(row: SessionRow): string {
  const { streamer, date, sessionId, path, sizeBytes, modifiedMs, state, title } = row
  const version = [path, sizeBytes, modifiedMs, state.status, title]
  return JSON.stringify([streamer, date, sessionId, ...version])
}

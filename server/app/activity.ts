// The first-party analytics collector of an open library: its counters and its route.
import type { FastifyInstance } from 'fastify'
import { join } from 'node:path'
import type { Logger } from 'pino'
import cluster from 'node:cluster'
import type { CountedEvent, QualityEvent } from '../../shared/contract.ts'
import type { IsKnownSubject } from '../site/analytics/activity-count.ts'
import { ActivityRecorder } from '../site/analytics/activity-recorder.ts'
import { ACTIVITY_LIMITS, addActivityRoute } from '../site/analytics/activity-route.ts'
import type { Catalog } from '../library/catalog/catalog.ts'
import type { Config } from '../base/config/load-config.ts'
import { isAppError } from '../base/errors.ts'
import { RateLimiter } from '../base/admission/rate-limiter.ts'
import { respondToLimit, SharedLimiter } from '../base/admission/shared-limiter.ts'
import type { ActivityLimiter } from '../site/analytics/activity-route.ts'

/** Counters file in the data folder. */
export const ACTIVITY_FILE = 'analytics.sqlite'

/** Counts events in this process; does nothing and has no route without first-party analytics. */
export interface Activity {
  /** Counts an event that the server itself observes. Never throws. */
  record(this: void, event: CountedEvent): void
  /** Passes on what players experience; without a listener it is dropped. */
  onQuality(this: void, listener: QualityListener): void
  addRoute(this: void, app: FastifyInstance): Promise<void>
  close(): Promise<void>
}

type QualityListener = (event: QualityEvent) => void

export interface ActivityOptions {
  config: Config
  library: { catalog: Catalog }
  logger: Logger
}

export function openActivity({ config, library, logger }: ActivityOptions): Activity {
  if (!config.analytics.firstParty) {
    return {
      record: () => undefined,
      onQuality: () => undefined,
      addRoute: async () => undefined,
      close: async () => undefined,
    }
  }
  const recorder = new ActivityRecorder({
    path: join(config.data, ACTIVITY_FILE),
    isKnownSubject: isVisible(library.catalog),
    now: Date.now,
    onFailure: (error) => logger.error({ err: error }, 'views and plays cannot be counted'),
  })
  const { record } = recorder
  let measure: QualityListener = () => undefined
  const onLimited = (): void =>
    logger.warn('one address sends too much activity; set server.trustProxy if there is a proxy')
  return {
    record,
    onQuality: (listener) => void (measure = listener),
    addRoute: async (app) =>
      addActivityRoute(app, {
        record,
        measure: (event) => measure(event),
        onLimited,
        limiter: createActivityLimiter(),
        origins: originsOf(config),
      }),
    close: async () => recorder.close(),
  }
}

/** Origins whose pages may send events, besides the one that the request was sent to. */
function originsOf({ server: { corsOrigins, publicUrl } }: Config): string[] {
  return publicUrl === undefined ? [...corsOrigins] : [...corsOrigins, new URL(publicUrl).origin]
}

/** Sessions that were hidden while a visitor had them open are no longer counted. */
function isVisible(catalog: Catalog): IsKnownSubject {
  return ({ streamer, date, sessionId }) => {
    try {
      return date === undefined || sessionId === undefined
        ? catalog.newestSessions(streamer, 1).length > 0
        : catalog.findSession({ streamer, date, sessionId }) !== undefined
    } catch (error) {
      if (isAppError(error, 'gone')) return false
      throw error
    }
  }
}

/** The limit that a serving process applies. */
function createActivityLimiter(): ActivityLimiter {
  const own = createLimiter()
  const { worker } = cluster
  if (worker === undefined) return own
  const shared = new SharedLimiter({
    own,
    now: () => performance.now(),
    // Without a callback, a closed channel would emit an error that ends the process.
    send: (request, onFailure) =>
      worker.process.send?.(request, (error: unknown) => {
        if (error instanceof Error) onFailure()
      }),
  })
  worker.on('message', shared.receive)
  return shared
}

/** Counts the requests of all workers, in the primary. */
export function countForWorkers(): void {
  const limiter = createLimiter()
  cluster.on('message', (worker, message: unknown) => {
    const response = respondToLimit(message, limiter)
    if (response !== undefined && worker.isConnected()) worker.send(response, () => undefined)
  })
}

function createLimiter(): RateLimiter {
  return new RateLimiter({ ...ACTIVITY_LIMITS, now: () => performance.now() })
}

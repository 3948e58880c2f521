// The first-party collector over an opened library: its counters, and the route that feeds them.
import type { FastifyInstance } from 'fastify'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { ActivityEvent } from '../../shared/contract.ts'
import type { KnowsSubject } from '../analytics/activity-count.ts'
import { ActivityRecorder } from '../analytics/activity-recorder.ts'
import { addActivityRoute } from '../analytics/activity-route.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Config } from '../config/load-config.ts'
import { isAppError } from '../errors.ts'

/** File of the counters in the data folder. */
export const ACTIVITY_FILE = 'analytics.sqlite'

/** What counts events in this process; without first-party analytics it counts nothing and has no route. */
export interface Activity {
  /** Counts an event of our own. Never throws. */
  record(this: void, event: ActivityEvent): void
  addRoute(this: void, app: FastifyInstance): Promise<void>
  close(): Promise<void>
}

export interface ActivityOptions {
  config: Config
  library: { catalog: Catalog }
  logger: Logger
}

export function openActivity({ config, library, logger }: ActivityOptions): Activity {
  if (!config.analytics.firstParty) {
    return {
      record: () => undefined,
      addRoute: async () => undefined,
      close: async () => undefined,
    }
  }
  const recorder = new ActivityRecorder({
    path: join(config.data, ACTIVITY_FILE),
    knows: knowsOf(library.catalog),
    now: Date.now,
    onFailure: (error) => logger.error({ err: error }, 'views and plays cannot be counted'),
  })
  const { record } = recorder
  const onLimited = (): void =>
    logger.warn('an address sends too much activity; behind a proxy, server.trustProxy is needed')
  return {
    record,
    addRoute: async (app) =>
      addActivityRoute(app, { record, onLimited, now: () => performance.now() }),
    close: async () => recorder.close(),
  }
}

/** What was taken off the site while a visitor still had it open is not counted any more. */
function knowsOf(catalog: Catalog): KnowsSubject {
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

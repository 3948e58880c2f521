// The rate limit of POST /api/activity: counted in the primary where workers serve.
import cluster from 'node:cluster'
import { RateLimiter } from '../base/admission/rate-limiter.ts'
import { respondToLimit, SharedLimiter } from '../base/admission/shared-limiter.ts'
import { ACTIVITY_LIMITS } from '../site/analytics/activity-route.ts'
import type { ActivityLimiter } from '../site/analytics/activity-route.ts'

/** The limit that a serving process applies. */
export function createActivityLimiter(): ActivityLimiter {
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

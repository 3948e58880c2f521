// Prometheus metrics of this process, and the private listener that aggregates those of all
// processes.
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  register,
} from 'prom-client'
import { AppError } from '../errors.ts'
import type { SegmentCache } from '../delivery/segment-cache.ts'

/** Seconds; segments for slow disks or clients may take long. */
const DURATION_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10]

/** Starts counting this process's requests by route, method and status. */
export function measureRequests(app: FastifyInstance): void {
  // A worker answers the primary's requests for metrics.
  if (cluster.isWorker) void new AggregatorRegistry()
  collectDefaultMetrics()
  const labelNames = ['route', 'method', 'status'] as const
  const requests = new Counter({
    name: 'aftercast_http_requests_total',
    help: 'Requests answered.',
    labelNames,
  })
  const durations = new Histogram({
    name: 'aftercast_http_request_seconds',
    help: 'Time from a request to the end of its response.',
    labelNames: ['route'],
    buckets: DURATION_BUCKETS,
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    requests.inc({ route, method: request.method, status: reply.raw.statusCode })
    durations.observe({ route }, reply.elapsedTime / 1000)
    done()
  })
}

/** Exports figures of this process's segment cache. */
export function measureSegmentCache(cache: SegmentCache): void {
  new Counter({
    name: 'aftercast_segment_cache_requests_total',
    help: 'Requests for encrypted segments, by cache hit or miss.',
    labelNames: ['result'],
    collect() {
      const { hits, misses } = cache.stats
      this.reset()
      this.inc({ result: 'hit' }, hits)
      this.inc({ result: 'miss' }, misses)
    },
  })
  new Gauge({
    name: 'aftercast_segment_cache_bytes',
    help: 'Memory used by cached segments.',
    collect() {
      this.set(cache.stats.cachedBytes)
    },
  })
}

/** A running listener. */
export interface MetricsListener {
  close: () => void
}

/**
 * Serves GET /metrics at `host:port`, for this process and its workers.
 *
 * @throws AppError `failed` if the address is not available
 */
export async function listenForMetrics(hostAndPort: string): Promise<MetricsListener> {
  const { hostname, port } = new URL(`http://${hostAndPort}`)
  const server = createServer((request, response) => {
    if (request.method === 'GET' && request.url === '/metrics') {
      sendMetrics(response).catch(() => response.writeHead(500).end())
    } else {
      response.writeHead(404).end()
    }
  })
  server.listen(Number(port === '' ? 80 : port), hostname.replaceAll(/[[\]]/g, ''))
  await once(server, 'listening').catch((cause: unknown) => {
    throw new AppError('failed', `server.metrics: cannot listen at ${hostAndPort}`, { cause })
  })
  return {
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function sendMetrics(response: ServerResponse): Promise<void> {
  const hasWorkers = Object.keys(cluster.workers ?? {}).length > 0
  const text = await (hasWorkers ? new AggregatorRegistry().clusterMetrics() : register.metrics())
  response.writeHead(200, { 'content-type': register.contentType }).end(text)
}

// The private listener: the metrics of this process and its workers, and the operator's page.
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { AggregatorRegistry, register } from 'prom-client'
import { AppError, reasonOf } from '../../base/errors.ts'

/** Where it listens, and further names by which it is requested. */
export interface MetricsAddress {
  metrics: string
  metricsHosts: readonly string[]
}

/** A running listener. */
export interface MetricsListener {
  close: () => void
}

/** Responds to a request of another path than `/metrics`; returns false if it has no such path. */
export type OtherRoutes = (request: IncomingMessage, response: ServerResponse) => boolean

/** An operator, Prometheus, and health checks: few connections, and none of them is slow. */
const MAX_CONNECTIONS = 100
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const UNKNOWN_HOST =
  'This name is unknown: request an address, or add the name to server.metricsHosts.\n'

/**
 * Serves /metrics at `host:port`, for this process and its workers, and other routes.
 *
 * @throws AppError `failed` if the address is not available
 */
export async function listenForMetrics(
  { metrics: hostAndPort, metricsHosts }: MetricsAddress,
  otherRoutes: OtherRoutes,
): Promise<MetricsListener> {
  const { hostname, port } = new URL(`http://${hostAndPort}`)
  const names = [hostname, ...metricsHosts]
  const limits = { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS }
  const server = createServer(limits, (request, response) => {
    if (!isOwnHost(request.headers.host, names)) {
      // RFC 9110 15.5.20.
      response.writeHead(421, { 'content-type': 'text/plain; charset=utf-8' }).end(UNKNOWN_HOST)
    } else if (isForMetrics(request)) {
      sendMetrics(response).catch(() => response.writeHead(500).end())
    } else if (!otherRoutes(request, response)) {
      response.writeHead(404).end()
    }
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen(Number(port === '' ? 80 : port), hostname.replaceAll(/[[\]]/g, ''))
  await once(server, 'listening').catch((cause: unknown) => {
    const problem = `cannot listen at ${hostAndPort}: ${reasonOf(cause)}`
    throw new AppError('failed', `server.metrics: ${problem}`, { cause })
  })
  return {
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function isForMetrics({ method = '', url = '' }: IncomingMessage): boolean {
  return ['GET', 'HEAD'].includes(method) && url.split('?', 1)[0] === '/metrics'
}

/** The metrics of this process and its workers, in the text format of Prometheus. */
export async function readMetrics(): Promise<string> {
  const hasWorkers = Object.keys(cluster.workers ?? {}).length > 0
  const own = await register.metrics()
  return hasWorkers ? `${await new AggregatorRegistry().clusterMetrics()}${own}` : own
}

async function sendMetrics(response: ServerResponse): Promise<void> {
  const text = await readMetrics()
  response.writeHead(200, { 'content-type': register.contentType }).end(text)
}

/**
 * Whether a request names the listener by an address, which no other site can have, as `localhost`,
 * or by one of these names. A page of another site whose name an attacker points to this machine
 * (DNS rebinding) sends that name.
 */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  const hostname = URL.parse(`http://${host}`)?.hostname ?? ''
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (host === undefined || bare === '') return false
  if (isIP(bare) !== 0 || bare === 'localhost' || bare.endsWith('.localhost')) return true
  return names.some((name) => name.toLowerCase() === bare)
}

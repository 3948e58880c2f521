// The addresses that the server listens on, and the proxy before it: the site is asked through its
// public URL.
import { randomUUID } from 'node:crypto'
import fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Config } from '../../base/config/load-config.ts'
import { codeOf, reasonOf } from '../../base/errors.ts'
import { trustProxyOf } from '../../site/http/http-server.ts'
import { failure, ok, warning } from './finding.ts'
import type { Finding } from './finding.ts'

const RESPONSE_MS = 10_000
const HEALTH_PATH = '/healthz'
/** Codes of Node.js for certificates, and of OpenSSL. */
const TLS_CODE = /CERT|VERIFY|SSL/
/** The response, and what the server knows of its visitor. */
const healthShape = z.object({
  status: z.string(),
  /** Only of the stand-in. */
  seen: z
    .object({
      id: z.string(),
      connection: z.string(),
      visitor: z.string(),
      forwarded: z.string().optional(),
    })
    .optional(),
})

type Health = z.infer<typeof healthShape>

/** Listens in place of a server that does not run. */
export async function examineNetwork({ server }: Config, signal: AbortSignal): Promise<Finding[]> {
  const { host, port, basePath, publicUrl } = server
  const id = randomUUID()
  const standIn = await listen(server, id).catch((error: unknown) => error)
  const isFree = isServer(standIn)
  try {
    const address = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
    const findings = isFree
      ? [ok(`server: ${address.host} is free`), ...(await examineMetrics(server))]
      : [await examineOccupied(address, standIn, { basePath, signal })]
    if (publicUrl === undefined || findings.some(({ level }) => level === 'failure'))
      return findings
    const known = { id: isFree ? id : undefined, isTrusted: server.trustProxy !== false }
    return [...findings, await examinePublicUrl(publicUrl + basePath, known, signal)]
  } finally {
    if (isServer(standIn)) await standIn.close()
  }
}

function isServer(value: unknown): value is FastifyInstance {
  return typeof value === 'object' && value !== null && 'listen' in value
}

async function listen(
  { host, port, trustProxy, basePath }: Config['server'],
  id: string,
): Promise<FastifyInstance> {
  const app = fastify({ trustProxy: trustProxyOf(trustProxy), forceCloseConnections: true })
  app.get(basePath + HEALTH_PATH, (request): Health => {
    const forwarded = request.headers['x-forwarded-for']
    const connection = request.socket.remoteAddress ?? ''
    const seen = { id, connection, visitor: request.ip, forwarded: forwarded && String(forwarded) }
    return { status: 'ok', seen }
  })
  try {
    await app.listen({ host, port })
    return app
  } catch (error) {
    await app.close()
    throw error
  }
}

async function examineMetrics({ metrics, metricsHosts }: Config['server']): Promise<Finding[]> {
  if (metrics === undefined) return []
  const { listenForMetrics } = await import('../metrics/private-listener.ts')
  try {
    const listener = await listenForMetrics({ metrics, metricsHosts }, () => false)
    listener.close()
    return []
  } catch (error) {
    return [failure(reasonOf(error), 'choose another address')]
  }
}

/** Something else listens there, or nothing can. */
async function examineOccupied(
  address: URL,
  error: unknown,
  { basePath, signal }: { basePath: string; signal: AbortSignal },
): Promise<Finding> {
  const name = `server: ${address.host}`
  if (codeOf(error) !== 'EADDRINUSE') {
    const isPrivileged = codeOf(error) === 'EACCES'
    const remedy = isPrivileged
      ? 'choose a port above 1023, with a proxy before it'
      : 'correct server.host and server.port'
    return failure(`${name}: ${reasonOf(error)}`, remedy)
  }
  const health = await askHealth(address.origin + basePath, signal).catch(() => undefined)
  if (health !== undefined) return ok(`${name}: the server responds`)
  return failure(
    `${name}: another program uses this port`,
    'stop it, or choose another server.port',
  )
}

async function examinePublicUrl(
  url: string,
  { id, isTrusted }: { id: string | undefined; isTrusted: boolean },
  signal: AbortSignal,
): Promise<Finding> {
  const name = `site: ${url}`
  const remedy = 'correct server.publicUrl, DNS or the proxy (docs/deploy)'
  let health: Health
  try {
    health = await askHealth(url, signal)
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    const code = codeOf(cause)
    if (TLS_CODE.test(code)) {
      const text = `${name}: TLS fails (${code})`
      return warning(text, 'let the proxy use a certificate that browsers accept')
    }
    return warning(`${name} does not lead here: ${reasonOf(cause)}`, remedy)
  }
  if (health.seen === undefined || health.seen.id !== id) {
    if (id === undefined) return ok(`${name} responds`)
    return warning(`${name} leads to another server`, remedy)
  }
  const { connection, visitor, forwarded } = health.seen
  if (forwarded === undefined) {
    if (!isTrusted) return ok(`${name} leads here without a proxy that names visitors`)
    const set = 'let the proxy set X-Forwarded-For, or set server.trustProxy to false'
    return warning(`${name}: no proxy names visitors, so a visitor can name any address`, set)
  }
  if (visitor === connection) {
    const text = `${name}: the proxy ${connection} is not trusted: all visitors share its limits`
    return warning(text, `set server.trustProxy to "${connection}"`)
  }
  return ok(`${name} leads here; the proxy names visitors`)
}

async function askHealth(url: string, signal: AbortSignal): Promise<Health> {
  const response = await fetch(url + HEALTH_PATH, {
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_MS)]),
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`the response is ${response.status}`)
  }
  return healthShape.parse(await response.json())
}

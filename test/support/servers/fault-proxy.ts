// An HTTP proxy between a client and an object store. It fails like networks and stores do, and
// records what was requested and read.
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterTests } from '../after-tests.ts'
import { patienceMs } from '../patience.ts'
import { createClient } from './bucket.ts'
import type { ObjectStore } from './object-store.ts'
import { parseS3Request } from './s3-request.ts'
import type { S3Request } from './s3-request.ts'

const POLL_MS = 20
/** Headers of one connection, not of the message. */
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'expect'])

/** What happens to a request. */
export type Fault =
  /** An S3 error instead of the response of the store. */
  | { kind: 'error'; status: number; code: string; retryAfterSeconds?: number }
  /** No response, until the client disconnects. */
  | { kind: 'hang' }
  /** The connection ends before the response. */
  | { kind: 'disconnect' }
  /** The connection ends in the body of the response. */
  | { kind: 'cut'; afterBytes: number }
  /** The body of the response does not continue, until the client disconnects. */
  | { kind: 'stall'; afterBytes: number }
  /** A GET with Range gets status 200 and the whole object. */
  | { kind: 'ignore-range' }

export interface FaultOptions {
  /** How many requests fail. Default all. */
  times?: number
  /** Which requests fail. Default all. */
  when?: (request: S3Request) => boolean
}

export interface InjectedFault {
  /** How many requests have failed, or are failing, by it. */
  count(): number
  /** Requests that come later do not fail by it. Those that hang or stall continue to. */
  end(): void
}

/** A request that has reached the proxy. */
export interface ProxiedRequest extends S3Request {
  /** Sent to the client; undefined before. */
  status: number | undefined
  /** Bytes of the body that the store has sent so far; a client that disconnects may have fewer. */
  storeBytes: number
}

export interface FaultProxy {
  /** The store, for clients that use it through the proxy. */
  store: ObjectStore
  /** How long each request waits before the store gets it. Default 0. */
  latencyMs: number
  /** Connections since the start. */
  readonly connections: number
  /** All requests since the start or the last `clear`, in order. */
  readonly requests: readonly ProxiedRequest[]
  /** The oldest fault that applies to a request is used. */
  inject(fault: Fault, options?: FaultOptions): InjectedFault
  /** Refuses connections, and closes those that are open. */
  refuse(): Promise<void>
  /** Ends all faults and the latency, and accepts connections again. */
  heal(): Promise<void>
  /** Bytes of object bodies that the store has sent: of one key, or of all. */
  objectBytes(key?: string): number
  /** Empties `requests`. */
  clear(): void
}

interface ActiveFault {
  fault: Fault
  left: number
  count: number
  when: (request: S3Request) => boolean
}

/** Listens on a free port of loopback until the tests of the file have ended. */
export async function startFaultProxy(store: ObjectStore): Promise<FaultProxy> {
  const passOn = createPassOn(store)
  let requests: ProxiedRequest[] = []
  let faults: ActiveFault[] = []
  const server = createServer((incoming, response) => {
    const proxied = { ...parseS3Request(incoming), status: undefined, storeBytes: 0 }
    requests.push(proxied)
    const exchange = { incoming, response, proxied, fault: takeFault(faults, proxied) }
    const delay = proxy.latencyMs > 0 ? sleep(proxy.latencyMs) : Promise.resolve()
    // Fails if the client or the store has disconnected.
    delay.then(() => respond(exchange, passOn)).catch(() => response.destroy())
  })
  let connections = 0
  server.on('connection', () => (connections += 1))
  // A client must not reuse a connection that is being closed.
  server.keepAliveTimeout = 0
  const port = await listen(server, 0)
  const refuse = async (): Promise<void> => {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  const proxy: FaultProxy = {
    store: { ...store, endpoint: `http://127.0.0.1:${port}` },
    latencyMs: 0,
    get connections() {
      return connections
    },
    get requests() {
      return requests
    },
    inject(fault, { times = Infinity, when = () => true } = {}) {
      const active = { fault, left: times, count: 0, when }
      faults.push(active)
      return { count: () => active.count, end: () => void (active.left = 0) }
    },
    refuse,
    async heal() {
      faults = []
      proxy.latencyMs = 0
      if (!server.listening) await listen(server, port)
    },
    objectBytes(key) {
      return requests
        .filter(({ operation }) => operation === 'GetObject')
        .filter((proxied) => key === undefined || proxied.key === key)
        .reduce((sum, { storeBytes }) => sum + storeBytes, 0)
    },
    clear: () => void (requests = []),
  }
  afterTests(async () => {
    await refuse()
    passOn.close()
  })
  return proxy
}

/** The port. Waits if another program has it as the local port of a connection. */
async function listen(server: Server, port: number): Promise<number> {
  const untilMs = performance.now() + patienceMs
  for (;;) {
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      const address = server.address()
      return typeof address === 'object' && address !== null ? address.port : port
    } catch (error) {
      if (performance.now() > untilMs) throw error
      await sleep(POLL_MS)
    }
  }
}

function takeFault(faults: readonly ActiveFault[], request: S3Request): Fault | undefined {
  const active = faults.find(
    ({ fault, left, when }) => left > 0 && canFail(request, fault) && when(request),
  )
  if (active === undefined) return undefined
  active.left -= 1
  active.count += 1
  return active.fault
}

function canFail({ operation, range }: S3Request, { kind }: Fault): boolean {
  return kind !== 'ignore-range' || (operation === 'GetObject' && range !== undefined)
}

interface Exchange {
  incoming: IncomingMessage
  response: ServerResponse
  proxied: ProxiedRequest
  fault: Fault | undefined
}

async function respond(exchange: Exchange, passOn: PassOn): Promise<void> {
  const { incoming, response, fault } = exchange
  switch (fault?.kind) {
    case 'hang':
      incoming.resume()
      return
    case 'disconnect':
      response.destroy()
      return
    case 'error':
      incoming.resume()
      respondError(exchange, fault)
      return
    case 'ignore-range':
      await relay(exchange, await passOn.readWhole(exchange))
      return
    case 'cut':
    case 'stall':
    case undefined:
      await relay(exchange, await passOn.forward(exchange))
  }
}

type ErrorFault = Extract<Fault, { kind: 'error' }>

function respondError({ response, proxied }: Exchange, fault: ErrorFault): void {
  const { status, code, retryAfterSeconds } = fault
  proxied.status = status
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds)
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code>` +
      '<Message>injected by the fault proxy</Message></Error>',
  )
}

interface StoreResponse {
  status: number
  headers: OutgoingHttpHeaders | string[]
  body: Readable
}

/** Passes the response of the store to the client, up to the byte at which a fault begins. */
async function relay(exchange: Exchange, { status, headers, body }: StoreResponse): Promise<void> {
  const { response, proxied, fault } = exchange
  proxied.status = status
  response.writeHead(status, headers)
  response.flushHeaders()
  let left = fault?.kind === 'cut' || fault?.kind === 'stall' ? fault.afterBytes : Infinity
  for await (const chunk of body as AsyncIterable<Buffer>) {
    proxied.storeBytes += chunk.length
    await write(response, chunk.subarray(0, left))
    left -= chunk.length
    if (left >= 0) continue
    if (fault?.kind === 'cut') response.socket?.destroySoon()
    return
  }
  response.end()
}

/** Resolves when the system has the bytes. */
async function write(response: ServerResponse, bytes: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  response.write(bytes, (error) => (error ? reject(error) : resolve()))
  await promise
}

interface PassOn {
  /** Sends the request to the store, unchanged: its signature covers `Host` and the path. */
  forward(exchange: Exchange): Promise<StoreResponse>
  /** Reads the whole object, with a signature of its own. */
  readWhole(exchange: Exchange): Promise<StoreResponse>
  close(): void
}

function createPassOn(store: ObjectStore): PassOn {
  const { hostname, port } = new URL(store.endpoint)
  const client = createClient(store)
  // A connection for each request, because the store closes idle ones.
  const agent = new Agent({ keepAlive: false })
  return {
    async forward({ incoming, response }) {
      const { method, url: path, rawHeaders } = incoming
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
      const headers = withoutConnection(rawHeaders)
      const outgoing = request({ hostname, port, method, path, headers, agent, setHost: false })
      outgoing.once('response', resolve).on('error', reject)
      response.once('close', () => outgoing.destroy())
      incoming.pipe(outgoing)
      const body = await promise
      const { statusCode: status = 0, rawHeaders: received } = body
      return { status, headers: withoutConnection(received), body }
    },
    async readWhole({ incoming, proxied, response }) {
      incoming.resume()
      const { bucket: Bucket, key: Key, ifMatch: IfMatch } = proxied
      const { Body, ETag, ContentLength } = await client.send(
        new GetObjectCommand({ Bucket, Key, IfMatch }),
      )
      if (!(Body instanceof Readable)) throw new Error('the store has sent no body')
      response.once('close', () => Body.destroy())
      const headers = { etag: ETag, 'content-length': ContentLength }
      return { status: 200, headers, body: Body }
    },
    close: () => client.destroy(),
  }
}

/** @param rawHeaders alternately names and values */
function withoutConnection(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter(
    (_, at) => !CONNECTION_HEADERS.has(rawHeaders[at - (at % 2)]?.toLowerCase() ?? ''),
  )
}

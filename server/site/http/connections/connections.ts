// The connections of clients: their time limits, their number, and the order of their requests.
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { sendMalformed } from './malformed-request.ts'
import { PipelinedConnection } from './pipelined-connection.ts'

/**
 * This often, Node drops connections whose request headers take longer than 8 s. Thousands of them
 * at once would block the event loop.
 */
const CONNECTION_CHECK_MS = 250
const HEADERS_TIMEOUT_MS = 8000
const REQUEST_TIMEOUT_MS = 15_000
/** Node adds a second. It starts when the socket has the last byte, long before a slow client. */
const KEEP_ALIVE_MS = 15_000
/**
 * A client that neither sends nor accepts a byte for this time is disconnected, and so is one that
 * accepts none of the queued bytes.
 */
const STALLED_MS = 60_000
/** Checks within this time limit. */
const STALL_CHECKS = 4
/**
 * An idle connection costs a descriptor and about 10 KiB. With the files that are open (see
 * `base/admission/limits.ts`), these fit into a limit of 20,000 descriptors.
 */
const MAX_CONNECTIONS = 14_000

/**
 * A server that does not listen yet. `handler` gets the requests of one connection one by one: the
 * next when the response to the previous one is complete.
 *
 * @param stalledMs time limit for clients that stall
 */
export function createConnectionServer(handler: RequestListener, stalledMs = STALLED_MS): Server {
  const connections = new WeakMap<Socket, PipelinedConnection>()
  const server = createServer({
    connectionsCheckingInterval: CONNECTION_CHECK_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
  server.setTimeout(stalledMs)
  server.maxConnections = MAX_CONNECTIONS
  const answer: RequestListener = (request, response) => {
    const start = (): void => handler(request, response)
    const connection = connections.get(request.socket)
    if (connection === undefined) start()
    else connection.add(response, start)
  }
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new PipelinedConnection(socket))
    disconnectStalled(socket, stalledMs)
  })
  server.on('request', answer)
  // An expectation other than 100-continue may be ignored (RFC 9110 10.1.1).
  server.on('checkExpectation', answer)
  server.on('clientError', (error: Error, socket: Socket) => {
    // An error response in the middle of another response would be read as a part of it, and a
    // client that has sent nothing needs none.
    const isAnswering = connections.get(socket)?.isAnswering === true
    if (isAnswering || socket.bytesRead === 0) socket.destroy()
    else sendMalformed(error, socket)
  })
  return server
}

/**
 * Destroys the socket if its client accepts no queued byte for `stalledMs`, or up to a quarter
 * longer. Node's own time limit is not enough: it starts again when the system has accepted a part
 * of a write, even if that was at its beginning.
 *
 * While no bytes are queued, the client waits for the server. What sendfile sends does not count,
 * but whenever the socket is full, `stream/delivery/send-body.ts` queues some bytes as well.
 */
function disconnectStalled(socket: Socket, stalledMs: number): void {
  let accepted: number | undefined
  let unchangedChecks = 0
  const timer = setInterval(() => {
    const previous = accepted
    accepted = acceptedBytes(socket)
    const isUnchanged = accepted !== undefined && accepted === previous
    unchangedChecks = isUnchanged ? unchangedChecks + 1 : 0
    if (unchangedChecks === STALL_CHECKS) socket.destroy()
  }, stalledMs / STALL_CHECKS).unref()
  socket.once('close', () => clearInterval(timer))
}

/** Of all bytes that were written, those no longer queued; undefined if none are queued. */
function acceptedBytes(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, '_handle')
  if (typeof handle !== 'object' || handle === null) return undefined
  const written: unknown = Reflect.get(handle, 'bytesWritten')
  const queued: unknown = Reflect.get(handle, 'writeQueueSize')
  if (typeof written !== 'number' || typeof queued !== 'number' || queued === 0) return undefined
  return written - queued
}

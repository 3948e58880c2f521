// The connections of clients: their time limits, their number, and the order of their requests.
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { sendMalformed } from './malformed-request.ts'
import { PipelinedConnection } from './pipelined-connection.ts'
import { disconnectStalled } from './stalled-client.ts'

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

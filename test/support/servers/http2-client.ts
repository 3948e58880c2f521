// An HTTP/2 client for proxies with the certificate of the tests: one connection, many requests.
import { once } from 'node:events'
import { connect } from 'node:http2'
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import { TEST_CERTIFICATE } from './test-certificate.ts'

export interface Http2Response {
  status: number
  headers: IncomingHttpHeaders
  /** Not decoded. */
  body: Buffer
}

export interface Http2Request {
  method?: string
  headers?: Record<string, string>
  body?: string
}

export interface Http2Client {
  /** As negotiated by TLS: `h2`. */
  protocol: string | undefined
  request(this: void, target: string, request?: Http2Request): Promise<Http2Response>
  close(this: void): void
}

/** Rejects if there is no connection. @param localAddress the address that the proxy sees */
export async function connectHttp2(url: string, localAddress = '127.0.0.1'): Promise<Http2Client> {
  const { hostname: host, port } = new URL(url)
  const address = { host, port: Number(port), localAddress }
  const protocol = { ca: TEST_CERTIFICATE, ALPNProtocols: ['h2'] }
  const session = connect(url, { createConnection: () => connectTls({ ...address, ...protocol }) })
  await once(session, 'connect')
  session.on('error', () => undefined)
  return {
    protocol: session.alpnProtocol,
    request: async (target, request) => send(session, target, request),
    close: () => session.close(),
  }
}

async function send(
  session: ClientHttp2Session,
  target: string,
  { method = 'GET', headers = {}, body }: Http2Request = {},
): Promise<Http2Response> {
  const stream = session.request({ ':path': target, ':method': method, ...headers })
  stream.end(body)
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
  const ended = once(stream, 'end')
  const [received] = await Promise.race([once(stream, 'response'), ended])
  await ended
  const { ':status': status = 0, ...rest }: IncomingHttpHeaders & { ':status'?: number } = received
  return { status, headers: rest, body: Buffer.concat(chunks) }
}

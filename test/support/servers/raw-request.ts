// HTTP requests byte by byte over a socket: paths are sent unchanged, bodies returned as received.
import { connect } from 'node:net'
import { patienceMs } from '../patience.ts'

export interface RawResponse {
  status: number
  /** Names in lower case; the last value of repeated names. */
  headers: Record<string, string>
  /** Everything after the headers; not decoded. */
  body: Buffer
}

export interface RawOptions {
  method?: string
  headers?: Record<string, string>
  timeoutMs?: number
}

/** Sends one request whose target no URL parser changes, and reads until the server closes. */
export async function rawRequest(
  origin: string,
  target: string,
  options: RawOptions = {},
): Promise<RawResponse> {
  const { host } = new URL(origin)
  const headers = { host, connection: 'close', ...options.headers }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = [`${options.method ?? 'GET'} ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n')
  return parseResponse(
    await exchange(origin, Buffer.from(head, 'utf8'), options.timeoutMs ?? patienceMs),
  )
}

/** Sends bytes and returns all received ones; rejects if the server does not close in time. */
export async function exchange(origin: string, bytes: Uint8Array, timeoutMs = patienceMs) {
  const { hostname, port } = new URL(origin)
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  const socket = connect(Number(port), hostname, () => socket.write(bytes))
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('the response did not end in time')))
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', reject)
  socket.on('close', () => resolve(Buffer.concat(chunks)))
  return promise
}

function parseResponse(bytes: Buffer): RawResponse {
  const end = bytes.indexOf('\r\n\r\n')
  const lines = bytes.toString('latin1', 0, end === -1 ? 0 : end).split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(':')
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  const status = Number(/^HTTP\/1\.1 (?<status>\d{3})/.exec(lines[0] ?? '')?.groups?.status)
  return { status, headers, body: bytes.subarray(end + 4) }
}

// Requests that Node or the router cannot parse get the same form of error as all others.
import type { Socket } from 'node:net'
import { errorResponse } from '../responses/errors.ts'

/** Decodes to NUL, which no name can contain, so that the routes reject it. */
const UNDECODABLE = '%00'

/**
 * The URL with valid percent-encoding. Invalid parts become NUL, which every route rejects as a
 * malformed name, with all headers; the router itself would respond without them.
 */
export function decodableUrl(url: string): string {
  if (!url.includes('%')) return url
  const [path = ''] = url.split('?', 1)
  if (isDecodable(path)) return url
  const decodable = path
    .split('/')
    .map((part) => (isDecodable(part) ? part : UNDECODABLE))
    .join('/')
  return decodable + url.slice(path.length)
}

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}

const STATUS_LINES: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
}

/** Responds to bytes that are not an HTTP request, or to a long or slow one, and disconnects. */
export function sendMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const body = JSON.stringify(errorResponse('invalid', 'the request is malformed'))
  const lines = [
    `HTTP/1.1 ${STATUS_LINES[error.code ?? ''] ?? '400 Bad Request'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
  // Otherwise the connection lasts until the client ends it as well.
  socket.destroySoon()
}

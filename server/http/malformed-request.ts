// Requests that no route ever sees: what Node or the router cannot read is answered in the form of every other error.
import type { Socket } from 'node:net'
import { errorResponse } from './errors.ts'

/** Decodes to a character that no name can hold, so that the routes refuse it themselves. */
const UNREADABLE = '%00'

/**
 * The URL with percent-encoding that can be decoded: what cannot becomes NUL, which every route answers as any other
 * malformed name, with all headers. The router alone would answer without them.
 */
export function readableUrl(url: string): string {
  if (!url.includes('%')) return url
  const [path = ''] = url.split('?', 1)
  if (isDecodable(path)) return url
  const readable = path
    .split('/')
    .map((part) => (isDecodable(part) ? part : UNREADABLE))
    .join('/')
  return readable + url.slice(path.length)
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

/** Answers bytes that are no HTTP request, or one that is too long or too slow, and ends the connection. */
export function sendUnreadable(error: Error & { code?: string }, socket: Socket): void {
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
}

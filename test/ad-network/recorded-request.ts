// A request to the stand-in network, read completely and recorded for the tests.
import type { IncomingMessage } from 'node:http'

export interface RecordedRequest {
  method: string
  path: string
  query: URLSearchParams
  /** Origin to which the request was sent. */
  base: string
  headers: IncomingMessage['headers']
  body: string
}

/** Rejects where the client aborts. */
export async function readRequest(request: IncomingMessage): Promise<RecordedRequest> {
  const base = `http://${request.headers.host}`
  const { pathname, searchParams } = new URL(request.url ?? '/', base)
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const { method = 'GET', headers } = request
  return { method, path: pathname, query: searchParams, base, headers, body }
}

// A request to the stand-in network, read whole and kept for the tests to look at.
import type { IncomingMessage } from 'node:http'

export interface RecordedRequest {
  /** Milliseconds of `performance.now()` when its head had come. */
  atMs: number
  method: string
  path: string
  query: URLSearchParams
  /** Address under which the network was asked. */
  base: string
  headers: IncomingMessage['headers']
  body: string
}

/** Rejects where the sender breaks off. */
export async function readRequest(request: IncomingMessage): Promise<RecordedRequest> {
  const atMs = performance.now()
  const base = `http://${request.headers.host}`
  const { pathname, searchParams } = new URL(request.url ?? '/', base)
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const { method = 'GET', headers } = request
  return { atMs, method, path: pathname, query: searchParams, base, headers, body }
}

// Sends one request and returns the response as sent: `fetch` would decode it, and not revalidate.
import { get } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface RawResponse {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

export async function readResult(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  get(url, { headers }, resolve).once('error', reject)
  const response = await promise
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await buffer(response),
  }
}

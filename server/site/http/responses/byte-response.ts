// Plans the response for bytes of known size: 200, 206, 304 or 416 (RFC 9110 13, 14). Pure.
import type { IncomingHttpHeaders } from 'node:http'
import fresh from 'fresh'

export type ByteResponse =
  | { kind: 'not-modified' }
  | { kind: 'unsatisfiable' }
  /** Bytes from `start` (included) to `end` (excluded). */
  | { kind: 'bytes'; status: 200 | 206; start: number; end: number }

/** The response to a GET or HEAD with these headers, for a body with this size and strong ETag. */
export function planByteResponse(
  headers: IncomingHttpHeaders,
  { sizeBytes, etag }: { sizeBytes: number; etag: string },
): ByteResponse {
  // RFC 9110 13.2.2: the precondition has precedence over the range.
  if (fresh(headers, { etag })) return { kind: 'not-modified' }
  const whole: ByteResponse = { kind: 'bytes', status: 200, start: 0, end: sizeBytes }
  if (headers.range === undefined) return whole
  // RFC 9110 13.1.5: a range of another version is useless to the client.
  if (headers['if-range'] !== undefined && headers['if-range'] !== etag) return whole
  return planRange(headers.range, sizeBytes) ?? whole
}

const ONE_RANGE = /^bytes=(?<first>\d*)-(?<last>\d*)$/i

/**
 * One byte range (RFC 9110 14.1.2). Undefined for ranges that a server may ignore (14.2): malformed
 * ones, other units, several ranges.
 */
function planRange(range: string, sizeBytes: number): ByteResponse | undefined {
  const { first = '', last = '' } = ONE_RANGE.exec(range)?.groups ?? {}
  if (first === '' && last === '') return undefined
  if (first === '') return part(sizeBytes - Number(last), sizeBytes, sizeBytes)
  if (last === '') return part(Number(first), sizeBytes, sizeBytes)
  return Number(last) < Number(first) ? undefined : part(Number(first), Number(last) + 1, sizeBytes)
}

function part(start: number, end: number, sizeBytes: number): ByteResponse {
  const first = Math.max(start, 0)
  if (first >= sizeBytes) return { kind: 'unsatisfiable' }
  return { kind: 'bytes', status: 206, start: first, end: Math.min(end, sizeBytes) }
}

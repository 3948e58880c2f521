// Decides how bytes of known size are answered: whole, in part, not modified, or not at all (RFC 9110 13, 14). Pure.
import type { IncomingHttpHeaders } from 'node:http'
import fresh from 'fresh'
import parseRange from 'range-parser'

export type ByteAnswer =
  | { kind: 'not-modified' }
  | { kind: 'unsatisfiable' }
  /** Bytes from `start` up to, not including, `end`. */
  | { kind: 'bytes'; status: 200 | 206; start: number; end: number }

/** The answer to a GET or HEAD with these headers, for a body of this size and strong ETag. */
export function planByteAnswer(
  headers: IncomingHttpHeaders,
  { sizeBytes, etag }: { sizeBytes: number; etag: string },
): ByteAnswer {
  // RFC 9110 13.2.2: the precondition comes before the range.
  if (fresh(headers, { etag })) return { kind: 'not-modified' }
  const whole: ByteAnswer = { kind: 'bytes', status: 200, start: 0, end: sizeBytes }
  if (headers.range === undefined) return whole
  // RFC 9110 13.1.5: a part of another version is of no use.
  if (headers['if-range'] !== undefined && headers['if-range'] !== etag) return whole
  const ranges = parseRange(sizeBytes, headers.range, { combine: true })
  if (ranges === -1) return { kind: 'unsatisfiable' }
  // Malformed, of another unit, or several: a server may ignore them (RFC 9110 14.2).
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return whole
  const [range] = ranges
  if (range === undefined) return whole
  return { kind: 'bytes', status: 206, start: range.start, end: range.end + 1 }
}

// What an endpoint returns: its response in one value, which the responder sends.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Gate } from '../../../base/admission/gate.ts'
import type { RequestKind } from './request-kind.ts'
import type { SecurityHeaders } from './security-headers.ts'
import type { HashedText } from './text-response.ts'

/** One path of the site. Its file has its rules, and `site/http/endpoints.ts` lists it. */
export interface Endpoint {
  /** In the syntax of Fastify. */
  path: string
  /** Set before the endpoint does any work. Default `other`. */
  kind?: RequestKind
  /**
   * Admits the request; what it admitted is released when the response is sent. `inside`: the
   * endpoint enters gates itself. Default none. With either, `signal` aborts when the client
   * disconnects, and then no response is needed.
   */
  admission?: Gate | 'inside'
  /** @throws AppError, which becomes the response */
  answer(this: void, call: Call): Answer | Promise<Answer>
}

/** A request to an endpoint. */
export interface Call {
  request: FastifyRequest
  signal: AbortSignal
  /** Tags the response, also that of an error which follows. */
  tag(this: void, tags: Tags): void
}

/** A response. */
export interface Answer {
  /** Default 200. */
  status?: number
  body: Body
  /** Content-Type. */
  type: string
  /** A function is called when the body is ready: for a rule that depends on the time. */
  cache: CacheRule | (() => CacheRule)
  security: keyof SecurityHeaders
  /** For caches that are purged; without those of `Call.tag`. */
  tags?: (() => Tags) | undefined
  /** Called when nothing reads the body any more. */
  release?: () => unknown
}

/** Headers by which a cache is purged. */
export type Tags = Readonly<Record<string, string>>

/** Values of Cache-Control. */
export const cacheRules = {
  never: 'no-store',
  /** A change is visible immediately, no change costs a 304. */
  revalidate: 'no-cache',
  /** It changes soon, as the playlist of a growing recording does. */
  short: 'public, max-age=2',
  minute: 'public, max-age=60',
  hour: 'public, max-age=3600',
  day: 'public, max-age=86400',
  immutable: 'public, max-age=31536000, immutable',
} as const

export type CacheRule = keyof typeof cacheRules

export const JSON_TYPE = 'application/json; charset=utf-8'

export type Body = TextBody | BytesBody | ImageBody | UnchangedBody | StreamBody

/** Text: compressed, with an ETag of its content. */
export interface TextBody {
  kind: 'text'
  /**
   * Names the text, and the version of what it is formatted from (or a list of versions): it is
   * formatted again only for another version. Read the version before the content, so that older
   * text never has a newer version. Undefined: not cached.
   */
  cached?: { key: string; version: unknown } | undefined
  format: () => FormattedText | Promise<FormattedText>
}

export type FormattedText = string | HashedText | { text: string; validUntilMs: number }

/** JSON. By default the page has the current version at once. */
export function answerJson(
  text: Omit<TextBody, 'kind'> & Pick<Answer, 'tags'> & { cache?: CacheRule },
): Answer {
  const { cached, format, tags, cache = 'revalidate' } = text
  return { body: { kind: 'text', cached, format }, type: JSON_TYPE, cache, security: 'data', tags }
}

/** Few bytes without an ETag. */
export interface BytesBody {
  kind: 'bytes'
  bytes: string | Uint8Array
}

export interface ImageBody {
  kind: 'image'
  bytes: Uint8Array
  /** Undefined: a client that revalidates gets the image again. */
  etag?: string
  /** The request header that the image depends on. */
  vary?: string
}

/** The client has it: 304. */
export interface UnchangedBody {
  kind: 'unchanged'
  etag: string
}

/** Bytes of known size that are read while they are sent: whole, or a range of them. */
export interface StreamBody {
  kind: 'stream'
  sizeBytes: number
  etag: string
  /** Sends head and bytes; once it settles, nothing reads them any more. */
  send: (reply: FastifyReply, range: { start: number; end: number }) => Promise<unknown>
}

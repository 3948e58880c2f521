// Text that is served many times: compressed once per encoding, revalidated by ETag.
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import Negotiator from 'negotiator'
import { setServerTiming } from './server-timing.ts'

type Encoding = 'br' | 'gzip' | 'identity'

/** Below this, compression is not worthwhile. */
const MIN_COMPRESSED_BYTES = 1024
/** Memory of a response without its text. */
const OBJECT_BYTES = 4096
/** Fast enough for text that is compressed during a request. */
const BROTLI_QUALITY = 5

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

const VARY = 'Accept-Encoding'
/** A longer Accept-Encoding is not read: the cost of its negotiation is quadratic. */
const MAX_ACCEPT_LENGTH = 512

/** Values that browsers send, so that few requests need negotiation. */
const commonChoices: ReadonlyMap<string, Encoding> = new Map([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate', 'gzip'],
  ['br', 'br'],
  ['identity', 'identity'],
])

/** Headers of a response, besides those that follow from its content. */
export interface TextHead {
  contentType: string
  cacheControl: string
  /** Headers of every response, because `sendText` does not call the framework's hooks. */
  headers: Headers
}

type Headers = Readonly<Record<string, string>>

/** The text in one encoding, with all headers. */
interface EncodedText {
  headers: Headers
  bytes: Buffer
}

/** Text that is added in slices, because joining and hashing a large one at once blocks. */
export class HashedText {
  readonly #slices: Buffer[] = []
  readonly #hash = createHash('sha256')
  #sizeBytes = 0

  constructor(text = '') {
    this.add(text)
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  add(text: string): void {
    const slice = Buffer.from(text)
    this.#slices.push(slice)
    this.#hash.update(slice)
    this.#sizeBytes += slice.length
  }

  /** Call it once. */
  end(): { body: Buffer; hash: string } {
    const [body = Buffer.alloc(0)] = this.#slices
    return {
      body: this.#slices.length === 1 ? body : Buffer.concat(this.#slices),
      hash: this.#hash.digest('base64url').slice(0, 22),
    }
  }
}

/** Text with its headers, for any number of requests. */
export class TextResponse {
  readonly etag: string
  readonly cacheControl: string
  /** Headers of any encoding, and of a 304. */
  readonly headers: Headers
  readonly #body: Buffer
  readonly #encoded = new Map<Encoding, Promise<EncodedText>>()
  readonly #ready = new Map<Encoding, EncodedText>()

  constructor(text: string | HashedText, { contentType, cacheControl, headers }: TextHead) {
    const { body, hash } = (typeof text === 'string' ? new HashedText(text) : text).end()
    this.#body = body
    // Weak: the same for every encoding (RFC 9110 8.8.1).
    this.etag = `W/"${hash}"`
    this.cacheControl = cacheControl
    this.headers = {
      ...headers,
      'content-type': contentType,
      'cache-control': cacheControl,
      etag: this.etag,
      vary: VARY,
    }
  }

  get sizeBytes(): number {
    return this.#body.length
  }

  /** At most, with both compressed forms, which are added later. */
  get memoryBytes(): number {
    return OBJECT_BYTES + 3 * this.#body.length
  }

  /** Compresses on the first call for an encoding; synchronous once that is complete. */
  encoded(encoding: Encoding): EncodedText | Promise<EncodedText> {
    const ready = this.#ready.get(encoding)
    if (ready !== undefined) return ready
    const pending = this.#encoded.get(encoding) ?? this.#prepare(encoding)
    this.#encoded.set(encoding, pending)
    return pending
  }

  async #prepare(encoding: Encoding): Promise<EncodedText> {
    const bytes = await this.#encode(encoding)
    const contentEncoding = encoding === 'identity' ? {} : { 'content-encoding': encoding }
    const headers = { ...this.headers, ...contentEncoding, 'content-length': String(bytes.length) }
    const encoded = { headers, bytes }
    this.#ready.set(encoding, encoded)
    return encoded
  }

  async #encode(encoding: Encoding): Promise<Buffer> {
    switch (encoding) {
      case 'br':
        return compressBrotli(this.#body, {
          params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
        })
      case 'gzip':
        return compressGzip(this.#body)
      case 'identity':
        return this.#body
    }
  }
}

/**
 * Sends the text, or 304 if the client has it; also for HEAD. The headers are prepared and written
 * at once: set one by one, they would be the most expensive part of the response.
 */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  response: TextResponse,
): FastifyReply | Promise<FastifyReply> {
  // RFC 9110 13.2.1: a precondition applies only to a response that would be a success.
  if (reply.statusCode === 200 && fresh(request.headers, { etag: response.etag })) {
    setServerTiming(request, reply)
    writeHead(reply.code(304), response.headers).end()
    return reply
  }
  const encoding =
    response.sizeBytes < MIN_COMPRESSED_BYTES
      ? 'identity'
      : chooseEncoding(request.headers['accept-encoding'])
  const encoded = response.encoded(encoding)
  if (encoded instanceof Promise) return encoded.then((ready) => sendEncoded(request, reply, ready))
  return sendEncoded(request, reply, encoded)
}

function sendEncoded(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, bytes }: EncodedText,
): FastifyReply {
  setServerTiming(request, reply)
  writeHead(reply, headers).end(request.method === 'HEAD' ? undefined : bytes)
  return reply
}

function writeHead(reply: FastifyReply, headers: Headers): ServerResponse {
  const fromHooks = reply.getHeaders()
  reply.hijack()
  if (Object.keys(fromHooks).length === 0) return reply.raw.writeHead(reply.statusCode, headers)
  // Headers of hooks (CORS) are added, their Vary is merged, and the route's Cache-Control applies.
  for (const [name, value] of Object.entries(fromHooks)) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
  const own: Record<string, string> = { ...headers, vary: addVary(fromHooks.vary, VARY) }
  const cacheControl = fromHooks['cache-control']
  if (typeof cacheControl === 'string') own['cache-control'] = cacheControl
  return reply.raw.writeHead(reply.statusCode, own)
}

/**
 * The best encoding that the client accepts. Brotli only if it is listed: players that cannot
 * decode it also send `*` (Chromium's own HLS sends `gzip, identity;q=1, *;q=0`).
 */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined || acceptEncoding.length > MAX_ACCEPT_LENGTH) return 'identity'
  const common = commonChoices.get(acceptEncoding)
  if (common !== undefined) return common
  const offered = /\bbr\b/i.test(acceptEncoding) ? ['br', 'gzip', 'identity'] : ['gzip', 'identity']
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const accepted = negotiator.encodings(offered)
  if (accepted.includes('br')) return 'br'
  return accepted.includes('gzip') ? 'gzip' : 'identity'
}

/** The Vary header with one more name. */
export function addVary(header: unknown, name: string): string {
  if (header === undefined) return name
  const names =
    typeof header === 'string' && header !== ''
      ? header.split(',').map((known) => known.trim())
      : []
  if (names.some((known) => known.toLowerCase() === name.toLowerCase())) return names.join(', ')
  return [...names, name].join(', ')
}

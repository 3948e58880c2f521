// Text that is answered many times: compressed once for each encoding, revalidated by ETag.
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import Negotiator from 'negotiator'

type Encoding = 'br' | 'gzip' | 'identity'

/** Below this, headers outweigh what is saved. */
const MIN_COMPRESSED_BYTES = 1024
/** Good for text that is compressed while a visitor waits. */
const BROTLI_QUALITY = 5

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

const VARY = 'Accept-Encoding'

/** What browsers send, so that nearly no request is negotiated. */
const usualChoices: ReadonlyMap<string, Encoding> = new Map([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate', 'gzip'],
  ['br', 'br'],
  ['identity', 'identity'],
])

export interface TextResponseOptions {
  contentType: string
  cacheControl: string
  /** Of every answer: a text is sent past the framework, which would add them. */
  headers: Headers
}

type Headers = Readonly<Record<string, string>>

/** A text in one encoding, with all headers. */
interface EncodedText {
  headers: Headers
  bytes: Buffer
}

/** One text with its headers; safe to keep and to send to any number of requests. */
export class TextResponse {
  readonly etag: string
  /** Of an answer in any encoding, and of one without the text. */
  readonly headers: Headers
  readonly #body: Buffer
  readonly #encoded = new Map<Encoding, Promise<EncodedText>>()
  readonly #ready = new Map<Encoding, EncodedText>()

  constructor(text: string, { contentType, cacheControl, headers }: TextResponseOptions) {
    this.#body = Buffer.from(text)
    const hash = createHash('sha256').update(this.#body).digest('base64url').slice(0, 22)
    // Weak: the same for every encoding (RFC 9110 8.8.1).
    this.etag = `W/"${hash}"`
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

  /** The text in an encoding; compressed when first asked for, at once after that. */
  encoded(encoding: Encoding): EncodedText | Promise<EncodedText> {
    const ready = this.#ready.get(encoding)
    if (ready !== undefined) return ready
    const made = this.#encoded.get(encoding) ?? this.#make(encoding)
    this.#encoded.set(encoding, made)
    return made
  }

  async #make(encoding: Encoding): Promise<EncodedText> {
    const bytes = await this.#encode(encoding)
    const coding = encoding === 'identity' ? {} : { 'content-encoding': encoding }
    const headers = { ...this.headers, ...coding, 'content-length': String(bytes.length) }
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
 * Sends the text, or 304 to who has it. Also answers HEAD. The headers lie ready and are written at once: put together one
 * by one, they cost more than all else that is ours in an answer.
 */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: TextResponse,
): FastifyReply | Promise<FastifyReply> {
  // RFC 9110 13.2.1: a condition counts only where the answer would be a success.
  if (reply.statusCode === 200 && fresh(request.headers, { etag: answer.etag })) {
    writeHead(reply.code(304), answer.headers).end()
    return reply
  }
  const encoding =
    answer.sizeBytes < MIN_COMPRESSED_BYTES
      ? 'identity'
      : chooseEncoding(request.headers['accept-encoding'])
  const encoded = answer.encoded(encoding)
  if (encoded instanceof Promise) return encoded.then((made) => sendEncoded(request, reply, made))
  return sendEncoded(request, reply, encoded)
}

function sendEncoded(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, bytes }: EncodedText,
): FastifyReply {
  writeHead(reply, headers).end(request.method === 'HEAD' ? undefined : bytes)
  return reply
}

function writeHead(reply: FastifyReply, headers: Headers): ServerResponse {
  const fromHooks = reply.getHeaders()
  reply.hijack()
  if (Object.keys(fromHooks).length === 0) return reply.raw.writeHead(reply.statusCode, headers)
  // What hooks have set besides (CORS) goes with it, and varies it too.
  for (const [name, value] of Object.entries(fromHooks)) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
  return reply.raw.writeHead(reply.statusCode, { ...headers, vary: addVary(fromHooks.vary, VARY) })
}

/**
 * The best encoding that the client takes. Brotli goes only to who names it: `*` comes from players that cannot read it
 * (Chromium's own HLS sends `gzip, identity;q=1, *;q=0`).
 */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined) return 'identity'
  const known = usualChoices.get(acceptEncoding)
  if (known !== undefined) return known
  const named = /\bbr\b/i.test(acceptEncoding) ? ['br', 'gzip', 'identity'] : ['gzip', 'identity']
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const accepted = negotiator.encodings(named)
  if (accepted.includes('br')) return 'br'
  return accepted.includes('gzip') ? 'gzip' : 'identity'
}

/** A Vary header with one more name. */
export function addVary(header: unknown, name: string): string {
  if (header === undefined) return name
  const names = typeof header === 'string' && header !== '' ? header.split(/\s*,\s*/) : []
  if (names.some((known) => known.toLowerCase() === name.toLowerCase())) return names.join(', ')
  return [...names, name].join(', ')
}

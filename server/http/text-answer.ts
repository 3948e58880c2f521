// Text that is answered many times: compressed once for each encoding, revalidated by ETag.
import { createHash } from 'node:crypto'
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

/** What browsers send, so that nearly no request is negotiated. */
const usualChoices: Readonly<Record<string, Encoding>> = {
  'gzip, deflate, br, zstd': 'br',
  'gzip, deflate, br': 'br',
  'gzip, deflate': 'gzip',
  br: 'br',
  identity: 'identity',
}

export interface TextAnswerOptions {
  contentType: string
  cacheControl: string
}

/** One text with its headers; safe to keep and to send to any number of requests. */
export class TextAnswer {
  readonly options: TextAnswerOptions
  readonly etag: string
  readonly #body: Buffer
  readonly #encoded = new Map<Encoding, Promise<Buffer>>()
  readonly #ready = new Map<Encoding, Buffer>()

  constructor(text: string, options: TextAnswerOptions) {
    this.options = options
    this.#body = Buffer.from(text)
    const hash = createHash('sha256').update(this.#body).digest('base64url').slice(0, 22)
    // Weak: the same for every encoding (RFC 9110 8.8.1).
    this.etag = `W/"${hash}"`
  }

  get sizeBytes(): number {
    return this.#body.length
  }

  /** The bytes in an encoding; compressed when first asked for, at once after that. */
  bytes(encoding: Encoding): Buffer | Promise<Buffer> {
    const ready = this.#ready.get(encoding)
    if (ready !== undefined) return ready
    const made = this.#encoded.get(encoding) ?? this.#make(encoding)
    this.#encoded.set(encoding, made)
    return made
  }

  async #make(encoding: Encoding): Promise<Buffer> {
    const bytes = await this.#encode(encoding)
    this.#ready.set(encoding, bytes)
    return bytes
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

/** Sends the text, or 304 to who has it. Also answers HEAD. */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: TextAnswer,
): FastifyReply | Promise<FastifyReply> {
  const { contentType, cacheControl } = answer.options
  void reply.headers({
    'content-type': contentType,
    'cache-control': cacheControl,
    etag: answer.etag,
    vary: addVary(reply.getHeader('vary'), 'Accept-Encoding'),
  })
  if (fresh(request.headers, { etag: answer.etag })) return reply.code(304).send()
  const encoding =
    answer.sizeBytes < MIN_COMPRESSED_BYTES
      ? 'identity'
      : chooseEncoding(request.headers['accept-encoding'])
  if (encoding !== 'identity') void reply.header('content-encoding', encoding)
  const bytes = answer.bytes(encoding)
  if (Buffer.isBuffer(bytes)) return reply.send(bytes)
  return bytes.then((made) => reply.send(made))
}

/**
 * The best encoding that the client takes. Brotli goes only to who names it: `*` comes from players that cannot read it
 * (Chromium's own HLS sends `gzip, identity;q=1, *;q=0`).
 */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined) return 'identity'
  const known = Object.hasOwn(usualChoices, acceptEncoding)
    ? usualChoices[acceptEncoding]
    : undefined
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

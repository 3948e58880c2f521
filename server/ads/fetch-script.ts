// Fetches one script from an upstream that is not trusted: no redirects, bounded in time and size, public addresses alone.
import { request as requestHttp } from 'node:http'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { AppError } from '../errors.ts'
import { createPublicLookup, findLiteralAddress, isPublicAddress } from './public-address.ts'
import type { ResolveHost } from './public-address.ts'

/** Where a script comes from. */
export interface ScriptSource {
  /** Full address, http or https. */
  url: URL
  /** Allows addresses of private networks: for tests and for ad servers of one's own. */
  allowPrivate: boolean
}

export interface FetchScriptOptions {
  resolve: ResolveHost
  signal: AbortSignal
  /** Longest wait for the response's headers, name lookup and connection included. Default 3000. */
  headersTimeoutMs?: number
  /** Longest wait for everything. Default 5000. */
  totalTimeoutMs?: number
}

export const MAX_SCRIPT_BYTES = 1024 * 1024
const HEADERS_TIMEOUT_MS = 3000
const TOTAL_TIMEOUT_MS = 5000
const JAVASCRIPT = /^(?:application|text)\/(?:x-)?(?:java|ecma)script\s*(?:;|$)/i
/** Nothing of the visitor is told: the same few headers for every fetch. */
const HEADERS = {
  accept: 'text/javascript, application/javascript;q=0.9',
  'accept-encoding': 'br, gzip',
  'user-agent': 'Mozilla/5.0 (compatible; Aftercast)',
}

/**
 * The script's bytes, decoded, at most 1 MiB.
 *
 * @throws AppError `failed` where the answer is late, no 200, too large, no JavaScript, or comes from an address that is
 * not public
 */
export async function fetchScript(
  { url, allowPrivate }: ScriptSource,
  options: FetchScriptOptions,
): Promise<Buffer> {
  if (!allowPrivate) refusePrivateLiteral(url)
  const headersLimit = new AbortController()
  const timer = setTimeout(
    () => headersLimit.abort(new AppError('failed', 'the headers came too late')),
    options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS,
  )
  const total = AbortSignal.timeout(options.totalTimeoutMs ?? TOTAL_TIMEOUT_MS)
  const signal = AbortSignal.any([options.signal, headersLimit.signal, total])
  try {
    const request = send(url, {
      signal,
      ...(allowPrivate ? {} : { lookup: createPublicLookup(options.resolve) }),
    })
    if (!allowPrivate) requirePublicPeer(request)
    const response = await receive(request)
    clearTimeout(timer)
    return await readScript(response)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const reason: unknown = signal.aborted ? signal.reason : cause
    throw new AppError('failed', `no script from ${url.host}: ${messageOf(reason)}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

function refusePrivateLiteral(url: URL): void {
  const literal = findLiteralAddress(url)
  if (literal === undefined || isPublicAddress(literal)) return
  throw new AppError('failed', `${literal} is not a public address`)
}

/** A connection of its own for every fetch: one in five minutes needs no pool, and a pool would skip the checks. */
function send(url: URL, options: RequestOptions): ClientRequest {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return request(url, { ...options, agent: false, headers: HEADERS, maxHeaderSize: 16 * 1024 })
}

/** The last look: at the address the socket has really reached. */
function requirePublicPeer(request: ClientRequest): void {
  request.once('socket', (socket) => {
    socket.once('connect', () => {
      if (isPublicAddress(socket.remoteAddress ?? '')) return
      request.destroy(new AppError('failed', 'the upstream is not at a public address'))
    })
  })
}

async function receive(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request.once('response', resolve)
  request.on('error', reject)
  request.end()
  return promise
}

async function readScript(response: IncomingMessage): Promise<Buffer> {
  try {
    const { statusCode, headers } = response
    if (statusCode !== 200) throw new AppError('failed', `the upstream answered ${statusCode}`)
    if (!JAVASCRIPT.test(headers['content-type'] ?? '')) {
      throw new AppError('failed', 'the upstream answered something else than JavaScript')
    }
    const bytes = await readBounded(response)
    // Pages of errors and of consent come as 200 with any type.
    if (/^\s*</.test(bytes.toString('utf8', 0, 256).replace(/^\uFEFF/, ''))) {
      throw new AppError('failed', 'the upstream answered markup instead of a script')
    }
    return bytes
  } finally {
    response.destroy()
  }
}

/** Reads and decodes; the limit holds for both the bytes sent and the bytes they decode to. */
async function readBounded(response: IncomingMessage): Promise<Buffer> {
  const decoder = createDecoder(response.headers['content-encoding'])
  const chunks: Buffer[] = []
  let sizeBytes = 0
  const stream = decoder === undefined ? response : response.pipe(decoder)
  // A pipe does not pass errors on.
  if (decoder !== undefined) response.once('error', (error) => decoder.destroy(error))
  try {
    for await (const chunk of stream) {
      if (!Buffer.isBuffer(chunk)) throw new AppError('failed', 'the upstream answered text')
      sizeBytes += chunk.length
      if (sizeBytes > MAX_SCRIPT_BYTES) throw new AppError('failed', 'the script is too large')
      chunks.push(chunk)
    }
  } finally {
    decoder?.destroy()
  }
  if (!response.complete) throw new AppError('failed', 'the script was cut off')
  return Buffer.concat(chunks)
}

/** One coding at most: a chain of them is no answer to what was asked. */
function createDecoder(encoding: string | undefined): Transform | undefined {
  const name = encoding?.trim().toLowerCase() ?? 'identity'
  if (name === 'identity' || name === '') return undefined
  if (name === 'gzip' || name === 'x-gzip') return createGunzip()
  if (name === 'br') return createBrotliDecompress()
  throw new AppError('failed', 'the upstream uses a content coding that was not asked for')
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}

// Fetches a script from an untrusted upstream: no redirects, bounded in time and size, public
// addresses only.
import { request as requestHttp } from 'node:http'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { AppError } from '../../base/errors.ts'
import { createPublicLookup, findLiteralAddress, isPublicAddress } from './public-address.ts'
import type { ResolveHost } from './public-address.ts'

/** Source of a script. */
export interface ScriptSource {
  /** http or https URL. */
  url: URL
  /** Allows private addresses, for tests and for ad servers in one's own network. */
  allowPrivate: boolean
}

export interface FetchScriptOptions {
  resolve: ResolveHost
  signal: AbortSignal
  /** Limit for the response headers, including name lookup and connection. Default 3000. */
  headersTimeoutMs?: number
  /** Limit for the whole fetch. Default 5000. */
  totalTimeoutMs?: number
}

export const MAX_SCRIPT_BYTES = 1024 * 1024
const HEADERS_TIMEOUT_MS = 3000
const TOTAL_TIMEOUT_MS = 5000
const JAVASCRIPT = /^(?:application|text)\/(?:x-)?(?:java|ecma)script\s*(?:;|$)/i
/** The same headers for every fetch: nothing of the visitor is forwarded. */
const HEADERS = {
  accept: 'text/javascript, application/javascript;q=0.9',
  'accept-encoding': 'br, gzip',
  'user-agent': 'Mozilla/5.0 (compatible; Aftercast)',
}

/**
 * The script's decoded bytes, at most 1 MiB.
 *
 * @throws AppError `failed` if the response is late, not 200, too large, not JavaScript, or from a
 * non-public address
 */
export async function fetchScript(
  { url, allowPrivate }: ScriptSource,
  options: FetchScriptOptions,
): Promise<Buffer> {
  if (!allowPrivate) refusePrivateLiteral(url)
  const headersLimit = new AbortController()
  const timer = setTimeout(
    () => headersLimit.abort(new AppError('failed', 'the response headers timed out')),
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

/**
 * A new connection for every fetch: one in five minutes needs no pool, and a pool would skip the
 * checks.
 */
function send(url: URL, options: RequestOptions): ClientRequest {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return request(url, { ...options, agent: false, headers: HEADERS, maxHeaderSize: 16 * 1024 })
}

/** The final check: the address that the socket is really connected to. */
function requirePublicPeer(request: ClientRequest): void {
  request.once('socket', (socket) => {
    socket.once('connect', () => {
      if (isPublicAddress(socket.remoteAddress ?? '')) return
      request.destroy(new AppError('failed', 'the upstream has no public address'))
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
    if (statusCode !== 200)
      throw new AppError('failed', `the upstream responded with ${statusCode}`)
    if (!JAVASCRIPT.test(headers['content-type'] ?? '')) {
      throw new AppError('failed', 'the upstream response is not JavaScript')
    }
    const bytes = await readBounded(response)
    // Error and consent pages come as 200 with any type.
    if (/^\s*</.test(bytes.toString('utf8', 0, 256).replace(/^\uFEFF/, ''))) {
      throw new AppError('failed', 'the upstream response is markup instead of a script')
    }
    return bytes
  } finally {
    response.destroy()
  }
}

/** Reads and decodes; the limit applies to both the encoded and the decoded bytes. */
async function readBounded(response: IncomingMessage): Promise<Buffer> {
  const decoder = createDecoder(response.headers['content-encoding'])
  const chunks: Buffer[] = []
  let sizeBytes = 0
  const stream = decoder === undefined ? response : response.pipe(decoder)
  // A pipe does not forward errors.
  if (decoder !== undefined) response.once('error', (error) => decoder.destroy(error))
  try {
    for await (const chunk of stream) {
      if (!Buffer.isBuffer(chunk)) throw new AppError('failed', 'the upstream stream is not binary')
      sizeBytes += chunk.length
      if (sizeBytes > MAX_SCRIPT_BYTES) throw new AppError('failed', 'the script is too large')
      chunks.push(chunk)
    }
  } finally {
    decoder?.destroy()
  }
  if (!response.complete) throw new AppError('failed', 'the script was truncated')
  return Buffer.concat(chunks)
}

/** One content coding at most. */
function createDecoder(encoding: string | undefined): Transform | undefined {
  const name = encoding?.trim().toLowerCase() ?? 'identity'
  if (name === 'identity' || name === '') return undefined
  if (name === 'gzip' || name === 'x-gzip') return createGunzip()
  if (name === 'br') return createBrotliDecompress()
  throw new AppError('failed', 'the upstream uses an unsupported content coding')
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}

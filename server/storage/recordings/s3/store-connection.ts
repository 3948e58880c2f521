// A connection to a store. It reads into a few buffers that are used again: a stream of Node
// allocates one for each read, which takes more time than everything else.
import { connect, isIP } from 'node:net'
import type { OnReadOpts, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { S3ClientResolvedConfig } from '@aws-sdk/client-s3'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { AppError } from '../../../base/errors.ts'

/** Larger ones are filled, but whole segments take no less processor time. */
const BUFFER_BYTES = 64 * 1024
/** The same of TLS, where one read may have several parts. */
const SECURE_BUFFER_BYTES = 16 * 1024
/** Between two segments of one viewer. A response that nothing reads for longer is given up. */
const MAX_SILENCE_MS = 60_000

export interface StoreAddress {
  isSecure: boolean
  /** IPv6 addresses without brackets. */
  host: string
  port: number
}

export interface ConnectionOptions {
  address: StoreAddress
  connectTimeoutMs: number
  onClosed: () => void
}

interface Chunk {
  bytes: Uint8Array
  buffer: Uint8Array
}

export class StoreConnection {
  readonly #socket: Socket
  /** Received, but not read yet: then the socket is paused. */
  readonly #chunks: Chunk[] = []
  readonly #freeBuffers: Uint8Array[] = []
  /** Of the bytes that were read last. */
  #lentBuffer: Uint8Array | undefined
  #reader: PromiseWithResolvers<Chunk> | undefined
  #isIdle = true
  #isClosed = false

  constructor({ address, connectTimeoutMs, onClosed }: ConnectionOptions) {
    const bufferBytes = address.isSecure ? SECURE_BUFFER_BYTES : BUFFER_BYTES
    this.#socket = openSocket(address, {
      buffer: () => this.#freeBuffers.pop() ?? new Uint8Array(bufferBytes),
      callback: (length, buffer) => this.#receive({ bytes: buffer.subarray(0, length), buffer }),
    })
    const timer = setTimeout(() => this.close(), connectTimeoutMs)
    const close = (): void => this.close()
    this.#socket
      .once(address.isSecure ? 'secureConnect' : 'connect', () => clearTimeout(timer))
      .setTimeout(MAX_SILENCE_MS, close)
      .on('error', close)
      .on('end', close)
      .once('close', () => {
        clearTimeout(timer)
        this.close()
        onClosed()
      })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Sends a request. */
  write(request: string): void {
    this.#isIdle = false
    this.#socket.ref()
    this.#socket.write(request, 'latin1')
  }

  /**
   * The next bytes of the response, valid until the next call. Rejects if the connection is closed.
   * One call at a time.
   */
  async read(): Promise<Uint8Array> {
    if (this.#lentBuffer !== undefined) this.#freeBuffers.push(this.#lentBuffer)
    this.#lentBuffer = undefined
    const { bytes, buffer } = this.#chunks.shift() ?? (await this.#nextChunk())
    this.#lentBuffer = buffer
    return bytes
  }

  /** The response is over, and its bytes are not used any more. False if it is closed. */
  release(): boolean {
    this.#isIdle = true
    if (this.#chunks.length > 0) this.close()
    // Notices that the store closes it.
    this.#socket.unref().resume()
    return !this.#isClosed
  }

  /** A pending read rejects. */
  close(): void {
    this.#isClosed = true
    this.#reader?.reject(new Error('the connection was closed'))
    this.#reader = undefined
    this.#socket.destroy()
  }

  async #nextChunk(): Promise<Chunk> {
    if (this.#isClosed) throw new Error('the connection was closed')
    this.#reader = Promise.withResolvers()
    this.#socket.resume()
    return this.#reader.promise
  }

  /** False pauses the socket. */
  #receive(chunk: Chunk): boolean {
    const reader = this.#reader
    this.#reader = undefined
    reader?.resolve(chunk)
    if (reader !== undefined) return true
    this.#chunks.push(chunk)
    if (this.#isIdle) this.close()
    return false
  }
}

function openSocket({ isSecure, host, port }: StoreAddress, onread: OnReadOpts): Socket {
  const options = { host, port, onread, noDelay: true }
  if (!isSecure) return connect(options)
  const servername = isIP(host) === 0 ? { servername: host } : {}
  return connectTls({ ...options, ...servername, ALPNProtocols: ['http/1.1'] })
}

export type CredentialProvider = S3ClientResolvedConfig['credentials']

/** Longer than a call: a program may print them late, and what it prints is used. */
const TIMEOUT_MS = 30_000

/**
 * A time limit for the providers of credentials: the SDK has none, and shares a request for
 * credentials with all later calls until it ends.
 *
 * @param create returns a provider that shares nothing with earlier ones
 */
export function limitCredentials(create: () => CredentialProvider): CredentialProvider {
  const reason = (): AppError => new AppError('busy', 'no credentials for the store: no response')
  let provider = create()
  return async (options) => {
    const current = provider
    try {
      return await withTimeout(async () => current(options), { timeoutMs: TIMEOUT_MS, reason })
    } catch (error) {
      if (provider === current) provider = create()
      throw error
    }
  }
}

// Ranged GETs without the cost of the SDK, which takes 2 ms of processor time per request. The SDK
// signs one request per object and minute; each GET repeats it with a range that is not signed.
import { addAbortListener } from 'node:events'
import type { S3Client } from '@aws-sdk/client-s3'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { LRUCache } from 'lru-cache'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { ConnectionPool } from './connection-pool.ts'
import { sendGet } from './http-get.ts'
import type { ObjectResponse } from './object-body.ts'

export interface SignedGetsOptions {
  /** Signs. */
  client: S3Client
  bucket: string
  maxConnections: number
  connectTimeoutMs: number
  /** From the request to the head of the response. */
  responseTimeoutMs: number
}

/** A signature is valid for 15 minutes; the credentials may change. */
const SIGNATURE_TTL_MS = 60_000
const MAX_SIGNATURES = 1000
/** Before another request after a failure, as between those of the SDK. */
const MAX_PAUSE_MS = 100

const signedSchema = z
  .object({
    protocol: z.string(),
    hostname: z.string(),
    port: z.number().optional(),
    path: z.string(),
    query: z.record(z.string(), z.string()).default({}),
    headers: z.record(z.string(), z.string()),
  })
  .transform(({ protocol, hostname, port, path, query, headers }) => {
    const isSecure = protocol === 'https:'
    const host = hostname.replace(/^\[(?<address>.*)\]$/, '$<address>')
    return {
      address: { isSecure, host, port: port ?? (isSecure ? 443 : 80) },
      path: `${path}?${new URLSearchParams(query).toString()}`,
      headers,
    }
  })

type SignedRequest = z.infer<typeof signedSchema>

export class SignedGets {
  readonly #options: SignedGetsOptions
  readonly #connections: ConnectionPool
  /** By key; `refused` if the store accepts requests of the SDK only. */
  readonly #signed = new LRUCache<string, SignedRequest | 'refused'>({
    max: MAX_SIGNATURES,
    ttl: SIGNATURE_TTL_MS,
    fetchMethod: (key) => this.#sign(key),
  })

  constructor(options: SignedGetsOptions) {
    this.#options = options
    this.#connections = new ConnectionPool(options)
  }

  /**
   * A response with status 200 or 206. Undefined after a pause if there is none, for any reason:
   * then the SDK repeats the request, reports its error, follows redirects, corrects the clock or
   * gets new credentials.
   */
  async get(
    key: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<ObjectResponse | undefined> {
    try {
      const signed = await this.#signed.fetch(key)
      if (signed === undefined || signed === 'refused') return undefined
      const response = await this.#send(signed, headers, signal)
      const { status = 0, body } = response
      if (status === 200 || status === 206) return response
      body.destroy()
      if (status < 500) this.#signed.set(key, 'refused')
    } catch {
      // The request of the SDK fails as well, and its error is reported.
    }
    await sleep(Math.random() * MAX_PAUSE_MS, undefined, { signal })
    return undefined
  }

  async #send(
    { address, path, headers }: SignedRequest,
    moreHeaders: Record<string, string>,
    signal: AbortSignal,
  ): Promise<ObjectResponse> {
    signal.throwIfAborted()
    const connection = this.#connections.take(address)
    if (connection === undefined) throw new Error('there are too many connections')
    const close = (): void => connection.close()
    const timer = setTimeout(close, this.#options.responseTimeoutMs)
    using _closing = addAbortListener(signal, close)
    try {
      const request = { path, headers: { ...headers, ...moreHeaders } }
      return await sendGet(connection, request, () => this.#connections.give(address, connection))
    } finally {
      clearTimeout(timer)
    }
  }

  /** Runs the SDK up to the point where it would send the request. */
  async #sign(key: string): Promise<SignedRequest> {
    const { client, bucket } = this.#options
    const command = new GetObjectCommand({ Bucket: bucket, Key: key })
    const { promise, resolve } = Promise.withResolvers<unknown>()
    command.middlewareStack.add(
      () =>
        async ({ request }) => {
          resolve(request)
          return { response: {}, output: { $metadata: {} } }
        },
      { step: 'deserialize', priority: 'high', name: 'signedRequest' },
    )
    await client.send(command)
    return signedSchema.parse(await promise)
  }

  /** Closes idle connections. */
  close(): void {
    this.#connections.closeIdle()
  }
}

// The calls to an S3-compatible store. Credentials, region and endpoint come from the standard
// variables and files of AWS.
import { addAbortSignal } from 'node:stream'
import type { Readable } from 'node:stream'
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import type {
  GetObjectCommandInput,
  PutObjectCommandInput,
  S3ClientConfig,
} from '@aws-sdk/client-s3'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { AppError } from '../../../base/errors.ts'
import type { S3Location } from '../storage-location.ts'
import type { FileStat } from '../storage.ts'
import { limitCredentials } from './store-connection.ts'
import type { CredentialProvider } from './store-connection.ts'
import { bodyOf } from './object-body.ts'
import type { ObjectBody, ObjectResponse } from './object-body.ts'
import { SignedGets } from './signed-gets.ts'
import { asAppError, describeFailure } from './store-error.ts'

/** One version of an object. */
export interface PinnedObject {
  key: string
  stat: FileStat
  /** Entity tag with its quotation marks; undefined if the store has none. */
  etag: string | undefined
}

/** Up to 1,000 keys. */
export interface ListPage {
  objects: PinnedObject[]
  /** Starts of keys up to the delimiter, with it. */
  prefixes: string[]
  /** The token of the next page; undefined of the last one. */
  next: string | undefined
}

export interface ListOptions {
  prefix: string
  /** Continues an earlier listing at the page of this token. */
  from?: string | undefined
  /** Groups the keys by this character after the prefix. */
  delimiter?: string
  signal?: AbortSignal | undefined
}

/** Bytes of an object; `end` is exclusive. */
export interface ByteRange {
  start: number
  end: number
}

/** All of an object. */
interface WholeObject {
  bytes: Buffer
  /** With its quotation marks; undefined if the store has none. */
  etag: string | undefined
}

type PutCondition = Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'>

export interface PutOptions {
  /** `keep` leaves an existing object as it is. An entity tag: replaces only what has it. */
  existing: 'keep' | 'replace' | { etag: string }
  /** Default a minute, for many bytes. */
  timeoutMs?: number
  signal: AbortSignal
}

const MAX_SOCKETS = 256
const CONNECT_TIMEOUT_MS = 3000
/** From the request to the head of the response. */
const RESPONSE_TIMEOUT_MS = 8000
/** Of a call with its retries; of a GET with a range, up to the head of the response. */
const CALL_TIMEOUT_MS = 10_000
/** The same for a call that sends or reads a whole object. */
const OBJECT_TIMEOUT_MS = 60_000
/** With exponential backoff and jitter, by the SDK. */
const MAX_ATTEMPTS = 3
/** Of a conditional PUT: there is another object, or none, or one is written at this moment. */
const CONDITION_FAILED = new Set([404, 409, 412])
/** Some stores have no conditional PUT. */
const NOT_IMPLEMENTED = 501
/** Accepted by stores other than AWS, whose users often configure none. */
const DEFAULT_REGION = 'us-east-1'

const ignore = (): void => undefined
/** The SDK would write to the console, which may block or end the process. */
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore }

export class Bucket {
  readonly #client: S3Client
  readonly #name: string
  readonly #signedGets: SignedGets

  private constructor(client: S3Client, name: string) {
    this.#client = client
    this.#name = name
    this.#signedGets = new SignedGets({
      client,
      bucket: name,
      maxConnections: MAX_SOCKETS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      responseTimeoutMs: RESPONSE_TIMEOUT_MS,
    })
  }

  static async open({ bucket, pathStyle }: S3Location): Promise<Bucket> {
    const client = createClient(pathStyle)
    const hasRegion = await client.config.region().then(
      () => true,
      () => false,
    )
    return new Bucket(hasRegion ? client : createClient(pathStyle, DEFAULT_REGION), bucket)
  }

  /** All pages of a listing, at least one. @throws AppError as `asAppError` */
  async *list(options: ListOptions): AsyncGenerator<ListPage, void> {
    let token = options.from
    // Brent's algorithm finds every cycle of tokens, and remembers one of them.
    let known = token
    for (let pages = 1, knownUntil = 1; ; pages += 1) {
      const page = await this.#listPage({ ...options, from: token })
      if (page.next !== undefined && page.next === known)
        throw new AppError('failed', 'the store returns pages of a listing again and again')
      yield page
      token = page.next
      if (token === undefined) return
      if (pages < knownUntil) continue
      known = token
      knownUntil = 2 * pages
    }
  }

  /** Lists one page. @throws AppError as `asAppError` */
  async hasKeys(prefix: string, signal?: AbortSignal): Promise<boolean> {
    const { objects, prefixes } = await this.#listPage({ prefix, delimiter: '/', signal })
    return objects.length + prefixes.length > 0
  }

  async #listPage({ prefix, delimiter, from, signal }: ListOptions): Promise<ListPage> {
    const command = new ListObjectsV2Command({
      Bucket: this.#name,
      Prefix: prefix,
      Delimiter: delimiter,
      ContinuationToken: from,
      // XML 1.0 cannot represent every key.
      EncodingType: 'url',
    })
    const found = await call(signal, (abortSignal) => this.#client.send(command, { abortSignal }))
    const { IsTruncated: hasMore = false, NextContinuationToken: next } = found
    // Whoever took it for the last one would miss keys, and remove what they contain.
    if (hasMore && next === undefined)
      throw new AppError('failed', 'the store returned a page of a listing without its successor')
    const decode = found.EncodingType === 'url' ? decodeKey : (key: string) => key
    return {
      objects: (found.Contents ?? []).flatMap(({ Key, Size, ETag, LastModified }) =>
        Key === undefined || Size === undefined
          ? []
          : pinObject(decode(Key), { Size, ETag, LastModified }),
      ),
      prefixes: (found.CommonPrefixes ?? []).flatMap(({ Prefix }) =>
        Prefix === undefined ? [] : [decode(Prefix)],
      ),
      next: hasMore ? next : undefined,
    }
  }

  /** @throws AppError `not_found`, and as `asAppError` */
  async head(key: string, signal?: AbortSignal): Promise<PinnedObject> {
    const command = new HeadObjectCommand({ Bucket: this.#name, Key: key })
    const found = await call(signal, (abortSignal) => this.#client.send(command, { abortSignal }))
    const { ContentLength: Size, ETag, LastModified } = found
    if (Size === undefined) throw new AppError('failed', 'the store returned no length')
    return pinObject(key, { Size, ETag, LastModified })
  }

  /**
   * The body of one range of an object that is still the same. The caller reads or destroys it; the
   * signal aborts only the request.
   *
   * @throws AppError `gone` if the object was replaced, `not_found`, and as `asAppError`
   */
  async get(
    { key, stat, etag }: PinnedObject,
    { start, end }: ByteRange,
    signal: AbortSignal,
  ): Promise<ObjectBody> {
    const last = end - 1
    const range = `bytes=${start}-${last}`
    const response = await call(signal, async (abortSignal) => {
      const found =
        (await this.#signedGets.get(key, rangeHeaders(range, etag), abortSignal)) ??
        (await this.#getBySdk(
          { Bucket: this.#name, Key: key, Range: range, IfMatch: etag },
          abortSignal,
        ))
      // The call is over: nobody reads it.
      if (abortSignal.aborted) found.body.destroy()
      return found
    })
    const { status, contentRange, contentLength, body } = response
    const isWhole = status === 200 && start === 0 && end === stat.sizeBytes && contentLength === end
    const isRange = status === 206 && contentRange === `bytes ${start}-${last}/${stat.sizeBytes}`
    if ((isWhole || isRange) && response.etag === etag) return body
    body.destroy()
    // An invalid or ignored range returns the whole object; a store may ignore If-Match.
    throw response.etag === etag
      ? new AppError('failed', 'the store returned another range than requested')
      : new AppError('gone', 'the recording was replaced while it was read')
  }

  /** A GET by the SDK, which repeats it after some failures. */
  async #getBySdk(input: GetObjectCommandInput, abortSignal: AbortSignal): Promise<ObjectResponse> {
    const found = await this.#client.send(new GetObjectCommand(input), { abortSignal })
    if (!isReadable(found.Body)) throw new AppError('failed', 'the store returned no body')
    return {
      status: found.$metadata.httpStatusCode,
      contentRange: found.ContentRange,
      contentLength: found.ContentLength,
      etag: found.ETag,
      body: bodyOf(found.Body),
    }
  }

  /**
   * All bytes of an object, with its entity tag.
   *
   * @throws AppError `failed` if it is larger than `maxBytes`, `not_found`, and as `asAppError`
   */
  async readWhole(key: string, maxBytes: number, signal: AbortSignal): Promise<WholeObject> {
    const command = new GetObjectCommand({ Bucket: this.#name, Key: key })
    const read = async (abortSignal: AbortSignal): Promise<WholeObject> => {
      const found = await this.#client.send(command, { abortSignal })
      const { Body, ContentLength = Infinity, ETag: etag } = found
      if (!isReadable(Body)) throw new AppError('failed', 'the store returned no body')
      if (ContentLength <= maxBytes) {
        return { bytes: await readBody(Body, ContentLength, abortSignal), etag }
      }
      Body.on('error', () => undefined).destroy()
      throw new AppError('failed', 'the object is too large')
    }
    return call(signal, read, OBJECT_TIMEOUT_MS)
  }

  /**
   * Writes an object with one request. Returns its entity tag, or undefined if the condition did
   * not hold. A store without conditions writes always.
   *
   * @throws AppError as `asAppError`
   */
  async put(
    key: string,
    bytes: Uint8Array,
    { existing, signal, timeoutMs = OBJECT_TIMEOUT_MS }: PutOptions,
  ): Promise<Pick<WholeObject, 'etag'> | undefined> {
    const object = { Bucket: this.#name, Key: key, Body: bytes, ContentLength: bytes.length }
    const send = async (condition: PutCondition, abortSignal: AbortSignal) => {
      const command = new PutObjectCommand({ ...object, ...condition })
      const { ETag: etag } = await this.#client.send(command, {
        abortSignal,
        requestTimeout: timeoutMs,
      })
      return { etag }
    }
    const sendInTime = async (abortSignal: AbortSignal) => {
      if (existing === 'replace') return send({}, abortSignal)
      for (const condition of conditionsOf(existing)) {
        try {
          return await send(condition, abortSignal)
        } catch (error) {
          const { name, status = 0 } = describeFailure(error)
          if (status === NOT_IMPLEMENTED) return send({}, abortSignal)
          if (!CONDITION_FAILED.has(status) || name === 'NoSuchBucket') throw error
        }
      }
      return undefined
    }
    return call(signal, sendInTime, timeoutMs)
  }

  /** Closes idle connections. */
  close(): void {
    this.#signedGets.close()
    this.#client.destroy()
  }
}

/** Ceph accepts no quotation marks here, and others may require them (RFC 9110 13.1.1). */
function conditionsOf(existing: 'keep' | { etag: string }): PutCondition[] {
  if (existing === 'keep') return [{ IfNoneMatch: '*' }]
  const { etag } = existing
  return [{ IfMatch: etag.replaceAll('"', '') }, { IfMatch: etag }]
}

function rangeHeaders(range: string, etag: string | undefined): Record<string, string> {
  return { range, ...(etag !== undefined && { 'if-match': etag }) }
}

function createClient(pathStyle: boolean, region?: string): S3Client {
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS }
  const config: S3ClientConfig = {
    ...(region !== undefined && { region }),
    forcePathStyle: pathStyle,
    followRegionRedirects: true,
    maxAttempts: MAX_ATTEMPTS,
    retryMode: 'standard',
    // Stores other than AWS reject or ignore the checksums that the SDK adds by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: RESPONSE_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
      logger: SILENT,
    },
    logger: SILENT,
  }
  // A client has the providers of the SDK, and shares what they return.
  const createProvider = (): CredentialProvider => new S3Client(config).config.credentials
  return new S3Client({ ...config, credentials: limitCredentials(createProvider) })
}

/** Runs a call within the time limit, also where the SDK ignores the signal. */
async function call<Result>(
  signal: AbortSignal | undefined,
  send: (signal: AbortSignal) => Promise<Result>,
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<Result> {
  const reason = (): AppError => new AppError('busy', 'the store is unavailable: no response')
  try {
    return await withTimeout(send, { timeoutMs, reason, ...(signal && { signal }) })
  } catch (error) {
    signal?.throwIfAborted()
    throw asAppError(error)
  }
}

interface ObjectFacts {
  Size: number
  ETag: string | undefined
  LastModified: Date | undefined
}

/**
 * An object is complete as soon as it exists. Its time is in whole seconds, as in HEAD; the clock
 * of a store may be ahead of this one.
 */
function pinObject(
  key: string,
  { Size: sizeBytes, ETag, LastModified }: ObjectFacts,
): PinnedObject {
  const storeSeconds = Math.floor((LastModified?.getTime() ?? 0) / 1000)
  const modifiedMs = Math.min(storeSeconds * 1000, Date.now())
  const version = `${sizeBytes}.${ETag ?? storeSeconds}`
  return { key, stat: { sizeBytes, modifiedMs, version, isImmutable: true }, etag: ETag }
}

/** An object with the stat of an earlier listing. */
export function pinListed(key: string, stat: FileStat): PinnedObject {
  const etag = /^\d+\.(?<etag>(?:W\/)?".*")$/s.exec(stat.version)?.groups?.etag
  return { key, stat, etag }
}

/** `encoding-type=url` encodes a space as +, or as %20. An invalid key is left as it is. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '))
  } catch {
    return key
  }
}

/** @throws AppError `busy` if it ends early, and the errors of the body and the signal */
async function readBody(body: Readable, length: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of addAbortSignal(signal, body) as AsyncIterable<Buffer>) {
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  if (bytes.length === length) return bytes
  throw new AppError('busy', 'the store returned a part of the object')
}

function isReadable(body: unknown): body is Readable {
  return typeof body === 'object' && body !== null && 'on' in body && 'destroy' in body
}

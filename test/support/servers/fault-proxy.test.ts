// Faults of the proxy as the S3 client observes them, with a real store.
import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import type { S3Client } from '@aws-sdk/client-s3'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findPrograms } from '../../../scripts/programs.mjs'
import { patienceMs, soon } from '../patience.ts'
import { createBucket, createClient } from './bucket.ts'
import type { TestBucket } from './bucket.ts'
import { startFaultProxy } from './fault-proxy.ts'
import type { FaultProxy } from './fault-proxy.ts'
import { startObjectStore } from './object-store.ts'
import type { StartedObjectStore } from './object-store.ts'
import type { S3Request } from './s3-request.ts'

/** A key that a URL parser would change. */
const KEY = 'alice/../ü %2F+.ts'
/** Large enough that the client sends `Expect: 100-continue`. */
const BODY = Buffer.alloc(3 * 1024 * 1024, 'x')

let store: StartedObjectStore
let proxy: FaultProxy
let bucket: TestBucket
let client: S3Client

describe.skipIf(findPrograms('Ceph') === undefined)('the fault proxy', () => {
  beforeAll(async () => {
    store = await startObjectStore()
    proxy = await startFaultProxy(store)
    bucket = await createBucket(proxy.store)
    await bucket.put(KEY, BODY)
    client = createClient(proxy.store, { maxAttempts: 1 })
  })

  beforeEach(async () => {
    await proxy.heal()
    proxy.clear()
  })

  afterAll(() => client.destroy())

  const object = () => ({ Bucket: bucket.name, Key: KEY })
  const get = async (
    conditions: { Range?: string; IfMatch?: string } = {},
    abortSignal = AbortSignal.timeout(patienceMs),
  ) => {
    const command = new GetObjectCommand({ ...object(), ...conditions })
    const { Body, $metadata } = await client.send(command, { abortSignal })
    const bytes = await Body?.transformToByteArray()
    return { status: $metadata.httpStatusCode, sizeBytes: bytes?.length }
  }

  /** Reads until the body ends; returns how many bytes there were, and the error. */
  const readBody = async (abortSignal = AbortSignal.timeout(patienceMs)) => {
    let sizeBytes = 0
    const { Body } = await client.send(new GetObjectCommand(object()), { abortSignal })
    if (!(Body instanceof Readable)) throw new Error('there is no body')
    Body.on('data', (chunk: Buffer) => void (sizeBytes += chunk.length))
    const end = finished(Body).catch((error: unknown) => error)
    return { size: () => sizeBytes, end, destroy: () => Body.destroy() }
  }

  it('passes requests to the store unchanged, and records them', async () => {
    const { ETag = '' } = await client.send(new HeadObjectCommand(object()))
    const part = await get({ Range: 'bytes=0-99', IfMatch: ETag })
    expect(part).toEqual({ status: 206, sizeBytes: 100 })
    expect(await get()).toEqual({ status: 200, sizeBytes: BODY.length })
    await client.send(new ListObjectsV2Command({ Bucket: bucket.name, Prefix: 'alice/' }))
    const target = { bucket: bucket.name, key: KEY }
    expect(proxy.requests).toMatchObject([
      { ...target, operation: 'HeadObject', status: 200, storeBytes: 0 },
      { ...target, operation: 'GetObject', range: 'bytes=0-99', ifMatch: ETag, status: 206 },
      { ...target, operation: 'GetObject', range: undefined, ifMatch: undefined, status: 200 },
      { bucket: bucket.name, key: '', operation: 'ListObjectsV2' },
    ])
    expect(proxy.objectBytes(KEY)).toBe(100 + BODY.length)
    expect(proxy.objectBytes()).toBe(100 + BODY.length)
    expect(proxy.objectBytes('another')).toBe(0)
  })

  it('adds latency', async () => {
    proxy.latencyMs = 50
    const startedMs = performance.now()
    await get({ Range: 'bytes=0-0' })
    // Timers are rounded down.
    expect(performance.now() - startedMs).toBeGreaterThan(48)
  })

  it('sends an S3 error to as many requests as injected', async () => {
    const fault = { kind: 'error', status: 503, code: 'SlowDown', retryAfterSeconds: 7 } as const
    const isRead = ({ operation }: S3Request) => operation === 'GetObject'
    const slow = proxy.inject(fault, { times: 1, when: isRead })
    await client.send(new HeadObjectCommand(object()))
    await expect(get()).rejects.toMatchObject({
      name: 'SlowDown',
      $metadata: { httpStatusCode: 503 },
      $response: { headers: { 'retry-after': '7' } },
    })
    expect(await get()).toMatchObject({ status: 200 })
    expect(slow.count()).toBe(1)
  })

  it('cuts bodies', async () => {
    proxy.inject({ kind: 'cut', afterBytes: 100_000 }, { times: 1 })
    const body = await readBody()
    expect(await body.end).toMatchObject({ code: 'ECONNRESET' })
    expect(body.size()).toBe(100_000)
    expect(await get()).toMatchObject({ sizeBytes: BODY.length })
  })

  it('stalls in bodies', async () => {
    const fault = proxy.inject({ kind: 'stall', afterBytes: 100_000 })
    const body = await readBody()
    await expect.poll(body.size, soon).toBe(100_000)
    fault.end()
    expect(await get()).toMatchObject({ sizeBytes: BODY.length })
    expect(body.size()).toBe(100_000)
    body.destroy()
    await body.end
  })

  it('never responds', async () => {
    const fault = proxy.inject({ kind: 'hang' }, { times: 1 })
    const stop = new AbortController()
    const hanging = get({}, stop.signal)
    await expect.poll(() => fault.count(), soon).toBe(1)
    expect(await get()).toMatchObject({ status: 200 })
    stop.abort()
    await expect(hanging).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('disconnects before the response', async () => {
    proxy.inject({ kind: 'disconnect' }, { times: 1 })
    await expect(get()).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('ignores Range', async () => {
    proxy.inject({ kind: 'ignore-range' })
    expect(await get({ Range: 'bytes=10-19' })).toEqual({ status: 200, sizeBytes: BODY.length })
  })

  it('refuses connections until it is healed', async () => {
    await proxy.refuse()
    const another = createClient(proxy.store, { maxAttempts: 1 })
    const attempt = another.send(new HeadObjectCommand(object()))
    await expect(attempt).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    another.destroy()
    await proxy.heal()
    expect(await get()).toMatchObject({ status: 200 })
  })
})

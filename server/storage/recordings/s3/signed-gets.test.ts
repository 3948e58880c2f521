import { randomBytes } from 'node:crypto'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createBucket } from '../../../../test/support/servers/bucket.ts'
import type { TestBucket } from '../../../../test/support/servers/bucket.ts'
import { startFaultProxy } from '../../../../test/support/servers/fault-proxy.ts'
import type { FaultProxy } from '../../../../test/support/servers/fault-proxy.ts'
import { awsEnvironment, startObjectStore } from '../../../../test/support/servers/object-store.ts'
import type { StartedObjectStore } from '../../../../test/support/servers/object-store.ts'
import type { S3Request } from '../../../../test/support/servers/s3-request.ts'
import { readExactly } from '../read-exactly.ts'
import type { OpenFile } from '../storage.ts'
import { createS3Storage } from './s3-storage.ts'
import type { S3Storage } from './s3-storage.ts'

const MIB = 1024 * 1024
const CONTENT = randomBytes(MIB)
const LARGE_BYTES = 96 * MIB

let store: StartedObjectStore
let proxy: FaultProxy
let bucket: TestBucket

beforeAll(async () => {
  store = await startObjectStore()
  proxy = await startFaultProxy(store)
  bucket = await createBucket(store)
  for (const name of ['a.ts', 'b.ts']) await bucket.put(name, CONTENT)
})

beforeEach(() => {
  for (const [name, value] of Object.entries(awsEnvironment(proxy.store))) vi.stubEnv(name, value)
  proxy.clear()
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await proxy.heal()
})

async function openStorage(): Promise<S3Storage> {
  const location = { kind: 's3', bucket: bucket.name, prefix: '', pathStyle: true } as const
  return createS3Storage(location, { cacheBytes: 0 })
}

async function expectBytes(file: OpenFile, start: number, length: number): Promise<void> {
  const read = await readExactly(file, start, length)
  expect(CONTENT.subarray(start, start + length).equals(read)).toBe(true)
}

const isGet = ({ operation }: S3Request): boolean => operation === 'GetObject'

function signatures(key: string): (string | undefined)[] {
  return proxy.requests
    .filter((request) => isGet(request) && request.key === key)
    .map(({ authorization }) => authorization)
}

test('one signature is for all ranges of an object', async () => {
  const storage = await openStorage()
  for (const name of ['a.ts', 'b.ts']) {
    const file = await storage.open(name)
    for (const start of [0, 300_000, 900_000]) await expectBytes(file, start, 1000)
    await file.close()
    expect(signatures(name)).toHaveLength(3)
    expect(new Set(signatures(name)).size).toBe(1)
  }
  expect(new Set([...signatures('a.ts'), ...signatures('b.ts')]).size).toBe(2)
})

test('a refused signature is replaced by one for each request', async () => {
  const file = await (await openStorage()).open('a.ts')
  const fault = proxy.inject(
    { kind: 'error', status: 403, code: 'ExpiredToken' },
    { when: isGet, times: 1 },
  )
  for (const start of [0, 300_000, 900_000]) await expectBytes(file, start, 1000)
  await file.close()
  expect(fault.count()).toBe(1)
  expect(new Set(signatures('a.ts')).size).toBe(4)
})

test.each(['error', 'disconnect'] as const)(
  'a request that fails by %s is repeated',
  async (kind) => {
    const file = await (await openStorage()).open('a.ts')
    const fault = { kind, status: 503, code: 'SlowDown' } as const
    proxy.inject(fault, { when: isGet, times: 2 })
    for (const start of [0, 300_000]) await expectBytes(file, start, 1000)
    await file.close()
    const [first, ...others] = signatures('a.ts')
    expect(others).toHaveLength(3)
    // The signature is used again.
    expect(others.at(-1)).toBe(first)
  },
)

test('a store that denies access is reported so, without the signature', async () => {
  const file = await (await openStorage()).open('a.ts')
  proxy.inject({ kind: 'error', status: 403, code: 'AccessDenied' }, { when: isGet })
  const error: unknown = await readExactly(file, 0, 10).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'failed', message: expect.stringContaining('denies access') })
  expect(String(error instanceof Error && error.cause)).toBe('Error: AccessDenied (403)')
  await file.close()
})

test('a body that nobody reads is not received', async () => {
  await bucket.put('large.ts', Buffer.alloc(LARGE_BYTES))
  const storage = await openStorage()
  const file = await storage.open('large.ts')
  file.willReadInOrder?.(0, LARGE_BYTES)
  await readExactly(file, 0, 1000)
  // Time in which a client without a limit would receive all of it.
  for (let i = 0; i < 100; i += 1) await storage.list('')
  expect(proxy.objectBytes('large.ts')).toBeLessThan(LARGE_BYTES / 2)
  await readExactly(file, 32 * 1024, 40 * MIB)
  expect(signatures('large.ts')).toHaveLength(1)
  await file.close()
})

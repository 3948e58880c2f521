import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createBucket } from '../../../../test/support/servers/bucket.ts'
import type { TestBucket } from '../../../../test/support/servers/bucket.ts'
import { startFaultProxy } from '../../../../test/support/servers/fault-proxy.ts'
import type { FaultProxy, ProxiedRequest } from '../../../../test/support/servers/fault-proxy.ts'
import { awsEnvironment, startObjectStore } from '../../../../test/support/servers/object-store.ts'
import type { StartedObjectStore } from '../../../../test/support/servers/object-store.ts'
import { describeStorage } from '../../../../test/support/verify/storage-suite.ts'
import { readExactly } from '../read-exactly.ts'
import type { OpenFile } from '../storage.ts'
import { BLOCK_BYTES } from './block-cache.ts'
import { createS3Storage } from './s3-storage.ts'
import type { S3Storage, S3StorageOptions } from './s3-storage.ts'
import { patienceMs, soon } from '../../../../test/support/patience.ts'

const MIB = 1024 * 1024
const CONTENT = randomBytes(3 * MIB + 777)

let store: StartedObjectStore
let proxy: FaultProxy
let bucket: TestBucket
let clockMs: number

beforeAll(async () => {
  store = await startObjectStore()
  proxy = await startFaultProxy(store)
  bucket = await createBucket(store)
  await bucket.put('lib/a/large.ts', CONTENT)
})

beforeEach(() => {
  for (const [name, value] of Object.entries(awsEnvironment(proxy.store))) vi.stubEnv(name, value)
  clockMs = 0
  proxy.clear()
})

afterEach(async () => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  await proxy.heal()
})

async function open(options: S3StorageOptions = {}, name = bucket.name): Promise<S3Storage> {
  const location = { kind: 's3', bucket: name, prefix: 'lib/', pathStyle: true } as const
  return createS3Storage(location, { now: () => clockMs, ...options })
}

async function readAll(file: OpenFile, step = file.stat.sizeBytes): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for (let at = 0; at < file.stat.sizeBytes; at += step) {
    chunks.push(await readExactly(file, at, Math.min(step, file.stat.sizeBytes - at)))
  }
  return Buffer.concat(chunks)
}

function gets(): ProxiedRequest[] {
  return proxy.requests.filter(({ operation }) => operation === 'GetObject')
}

/** Not a comparison of buffers, whose difference would be printed. */
function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

describeStorage(async () => {
  const prefix = `${randomUUID()}/`
  const location = { kind: 's3', bucket: bucket.name, prefix, pathStyle: true } as const
  return {
    storage: await createS3Storage(location, { now: () => clockMs }),
    put: async (path, content) => void (await bucket.put(prefix + path, content)),
    remove: async (path) => bucket.delete(prefix + path),
    settle: async () => void (clockMs += 3000),
  }
})

describe('a listing', () => {
  test('has files with stats, and folders, of the prefix only', async () => {
    const storage = await open()
    await bucket.put('lib/list/one.ts', 'one')
    await bucket.put('lib/list/sub/two.ts', 'two')
    await bucket.put('lib/listing/other.ts', 'other')
    await bucket.put('elsewhere.ts', 'elsewhere')
    const entries = await storage.list('list')
    expect(entries).toEqual([
      {
        name: 'one.ts',
        kind: 'file',
        stat: {
          sizeBytes: 3,
          modifiedMs: expect.any(Number),
          version: `3."${createHash('md5').update('one').digest('hex')}"`,
          isImmutable: true,
        },
      },
      { name: 'sub', kind: 'folder' },
    ])
    expect(await storage.stat('list/one.ts')).toEqual(entries[0]?.stat)
    const root = await storage.list('')
    expect(root.map(({ name }) => name)).toEqual(expect.arrayContaining(['a', 'list', 'listing']))
  })

  test('has names of every kind, but none that is hidden or has no characters', async () => {
    const storage = await open()
    const names = ['a b+c.ts', 'ü%20ß.ts', '日本 🎬.ts', 'a&<>".ts', 'tab\t.ts']
    const hidden = ['.hidden.ts', '', '/empty.ts', '../up.ts']
    for (const name of [...names, ...hidden]) await bucket.put(`lib/odd/${name}`, name || 'marker')
    const listed = (await storage.list('odd')).map(({ name }) => name)
    expect(listed.toSorted()).toEqual(names.toSorted())
    for (const name of names) {
      const file = await storage.open(`odd/${name}`)
      expect((await readAll(file)).toString()).toBe(name)
      await file.close()
    }
    for (const name of hidden) {
      await expect(storage.stat(`odd/${name}`)).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  test('has a file and a folder of the same name', async () => {
    const storage = await open()
    await bucket.put('lib/both/x', 'file')
    await bucket.put('lib/both/x/y', 'inside')
    const entries = await storage.list('both')
    expect(entries.map(({ name, kind }) => [name, kind])).toEqual([
      ['x', 'file'],
      ['x', 'folder'],
    ])
  })

  test('continues after a page of 1,000 keys', async () => {
    const storage = await open()
    const names = Array.from({ length: 1003 }, (_, i) => `${i}.ts`)
    const waiting = [...names]
    const putSome = async (): Promise<void> => {
      for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
        await bucket.put(`lib/many/${name}`, name)
      }
    }
    await Promise.all(Array.from({ length: 16 }, putSome))
    const listed = (await storage.list('many')).map(({ name }) => name)
    expect(listed.toSorted()).toEqual(names.toSorted())
  })

  test('of a folder without objects is not found, but the root may be empty', async () => {
    const storage = await open()
    await expect(storage.list('none')).rejects.toMatchObject({ code: 'not_found' })
    const empty = await createBucket(store)
    expect(await (await open({}, empty.name)).list('')).toEqual([])
  })
})

describe('an open file', () => {
  test('has the same bytes at every position, also twice', async () => {
    const file = await (await open()).open('a/large.ts')
    expect(file.stat.sizeBytes).toBe(CONTENT.length)
    const positions = [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, 2 * MIB + 5, CONTENT.length - 10]
    for (const position of [...positions, ...positions]) {
      for (const length of [1, 4096, BLOCK_BYTES + 2]) {
        const buffers = [Buffer.alloc(7), Buffer.alloc(0), Buffer.alloc(length)]
        const count = await file.readv(buffers, position)
        const expected = CONTENT.subarray(position, position + 7 + length)
        expect(count).toBe(expected.length)
        expect(digest(Buffer.concat(buffers).subarray(0, count))).toBe(digest(expected))
        const again = [Buffer.alloc(7 + length)]
        expect(file.readCached?.(again, position)).toBe(count)
        expect(digest(Buffer.concat(again).subarray(0, count))).toBe(digest(expected))
      }
    }
    expect(await file.read(Buffer.alloc(5), CONTENT.length)).toBe(0)
    expect(await file.read(Buffer.alloc(5), CONTENT.length + 5)).toBe(0)
    await file.close()
    await expect(file.read(Buffer.alloc(1), 0)).rejects.toMatchObject({ code: 'failed' })
  })

  test('is one HEAD for requests of three seconds, and every GET has its ETag', async () => {
    const storage = await open()
    for (let i = 0; i < 3; i += 1) {
      const file = await storage.open('a/large.ts')
      await readExactly(file, 0, 10)
      await file.close()
      expect(storage.openFiles).toBe(0)
    }
    clockMs = 3000
    const file = await storage.open('a/large.ts')
    await file.close()
    const heads = proxy.requests.filter(({ operation }) => operation === 'HeadObject')
    expect(heads).toHaveLength(2)
    expect(gets().map(({ ifMatch }) => ifMatch)).toEqual([file.stat.version.split('.')[1]])
  })

  test('reads announced bytes with one GET, whatever the size of the reads', async () => {
    const file = await (await open()).open('a/large.ts')
    const [start, length] = [100_000, 1_500_000]
    file.willReadInOrder?.(start, length)
    const chunks: Uint8Array[] = []
    for (let at = start; at < start + length; at += 70_000) {
      chunks.push(await readExactly(file, at, Math.min(70_000, start + length - at)))
    }
    const expected = CONTENT.subarray(start, start + length)
    expect(digest(Buffer.concat(chunks))).toBe(digest(expected))
    expect(gets()).toHaveLength(1)
    expect(proxy.objectBytes()).toBeLessThan(length + 2 * BLOCK_BYTES)
    // All of it is in memory now.
    expect(file.readCached?.([Buffer.alloc(length)], start)).toBe(length)
    await file.close()
  })

  test('reads sequential bytes once, and few bytes of a sparse reader', async () => {
    const storage = await open()
    const sequential = await storage.open('a/large.ts')
    expect(digest(await readAll(sequential, 20_000))).toBe(digest(CONTENT))
    await sequential.close()
    expect(proxy.objectBytes()).toBe(CONTENT.length)
    expect(gets().length).toBeLessThan(40)
    proxy.clear()
    const sparse = await (await open()).open('a/large.ts')
    for (let at = 0; at < CONTENT.length; at += 300_000) await readExactly(sparse, at, 16)
    expect(proxy.objectBytes()).toBeLessThanOrEqual(11 * BLOCK_BYTES)
    await sparse.close()
  })

  test.each([MIB, MIB - 300_000])('uses its connections again after %d bytes', async (length) => {
    const storage = await open({ cacheBytes: 0 })
    const connections = proxy.connections
    for (let i = 0; i < 5; i += 1) {
      const file = await storage.open('a/large.ts')
      file.willReadInOrder?.(0, MIB)
      await readExactly(file, 0, length)
      await file.close()
    }
    expect(gets()).toHaveLength(5)
    // HEAD has one, and a connection is free again a moment after its last byte.
    expect(proxy.connections - connections).toBeLessThanOrEqual(3)
  })

  test('shares its blocks with concurrent readers', async () => {
    const storage = await open()
    const files = await Promise.all([1, 2, 3].map(() => storage.open('a/large.ts')))
    const read = await Promise.all(files.map((file) => readExactly(file, 500_000, 100_000)))
    const expected = digest(CONTENT.subarray(500_000, 600_000))
    expect(read.map(digest)).toEqual([expected, expected, expected])
    expect(gets()).toHaveLength(1)
    await Promise.all(files.map((file) => file.close()))
  })

  test('needs no HEAD if a listing has its stat', async () => {
    const storage = await open()
    const [listed] = await storage.list('a')
    if (listed?.stat === undefined) throw new Error('nothing is listed')
    const file = await storage.open('a/large.ts', { listed: listed.stat })
    expect(digest(await readExactly(file, 0, 9))).toBe(digest(CONTENT.subarray(0, 9)))
    expect(file.stat).toEqual(listed.stat)
    expect(proxy.requests.map(({ operation }) => operation)).toEqual(['ListObjectsV2', 'GetObject'])
    await file.close()
  })

  test('never continues with bytes of an object that has replaced it', async () => {
    const storage = await open()
    await bucket.put('lib/replaced.ts', CONTENT)
    const file = await storage.open('replaced.ts')
    await readExactly(file, 0, 10)
    const other = randomBytes(CONTENT.length)
    await bucket.put('lib/replaced.ts', other)
    expect(digest(await readExactly(file, 0, 10))).toBe(digest(CONTENT.subarray(0, 10)))
    await expect(readExactly(file, 2 * MIB, 10)).rejects.toMatchObject({ code: 'gone' })
    // Found again at once, although the HEAD is recent.
    const current = await storage.open('replaced.ts')
    expect(digest(await readAll(current))).toBe(digest(other))
    await bucket.delete('lib/replaced.ts')
    await current.close()
    await file.close()
  })
})

describe('a store', () => {
  test('that is overloaded for a moment gets the request again', async () => {
    const failure = { kind: 'error', status: 503, code: 'SlowDown' } as const
    const fault = proxy.inject(failure, { times: 2 })
    const file = await (await open()).open('a/large.ts')
    proxy.inject({ kind: 'error', status: 429, code: 'TooManyRequests' }, { times: 1 })
    expect(digest(await readAll(file))).toBe(digest(CONTENT))
    expect(fault.count()).toBe(2)
    await file.close()
  })

  test.each(['cut', 'stall'] as const)(
    'with bodies that end by a %s is read further',
    async (kind) => {
      const stalledMs = patienceMs
      const file = await (await open({ streams: { max: 10, stalledMs } })).open('a/large.ts')
      const when = ({ operation }: { operation: string }): boolean => operation === 'GetObject'
      const afterBytes = 700_001
      proxy.inject({ kind, afterBytes }, { times: 3, when })
      file.willReadInOrder?.(0, CONTENT.length)
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const reading = readAll(file, 100_000)
      for (const at of kind === 'stall' ? [0, 1, 2] : []) {
        const sentBytes = (): number => gets()[at]?.storeBytes ?? 0
        await expect.poll(sentBytes, soon).toBeGreaterThan(afterBytes)
        await expect.poll(() => vi.getTimerCount(), soon).toBe(1)
        vi.advanceTimersByTime(stalledMs)
      }
      expect(digest(await reading)).toBe(digest(CONTENT))
      vi.useRealTimers()
      expect(gets()).toHaveLength(4)
      expect(new Set(gets().map(({ ifMatch }) => ifMatch)).size).toBe(1)
      await file.close()
    },
  )

  test('that returns the whole object instead of a range is refused', async () => {
    const file = await (await open()).open('a/large.ts')
    proxy.inject({ kind: 'ignore-range' })
    await expect(readExactly(file, MIB, 100)).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('another range'),
    })
    expect(digest(await readAll(file))).toBe(digest(CONTENT))
    await file.close()
  })

  test('that is down is reported as unavailable, and used again afterwards', async () => {
    const storage = await open()
    const file = await storage.open('a/large.ts')
    await proxy.refuse()
    await expect(readExactly(file, 0, 10)).rejects.toMatchObject({ code: 'busy' })
    await expect(storage.list('a')).rejects.toMatchObject({ code: 'busy' })
    await expect(storage.stat('other.ts')).rejects.toMatchObject({ code: 'busy' })
    await proxy.heal()
    expect(digest(await readAll(file))).toBe(digest(CONTENT))
    await file.close()
  })

  test('that does not respond waits for no aborted request', async () => {
    const storage = await open()
    const aborting = new AbortController()
    const file = await storage.open('a/large.ts')
    proxy.clear()
    proxy.inject({ kind: 'hang' })
    const listing = storage.list('a', { signal: aborting.signal })
    file.willReadInOrder?.(0, 100)
    const reading = readExactly(file, 0, 10)
    await vi.waitFor(() => expect(proxy.requests).toHaveLength(2), soon)
    aborting.abort(new Error('enough'))
    await file.close()
    await expect(listing).rejects.toThrow('enough')
    await expect(reading).rejects.toMatchObject({ code: 'failed' })
  })

  test('has connections for others although slow clients hold all streams', async () => {
    const storage = await open({ streams: { max: 1, stalledMs: 10_000 } })
    const files = await Promise.all([1, 2].map(() => storage.open('a/large.ts')))
    const starts = [0, 1_500_000]
    const chunks: Uint8Array[][] = [[], []]
    for (const [i, file] of files.entries()) file.willReadInOrder?.(starts[i] ?? 0, MIB)
    for (let at = 0; at < MIB; at += 300_000) {
      for (const [i, file] of files.entries()) {
        const length = Math.min(300_000, MIB - at)
        chunks[i]?.push(await readExactly(file, (starts[i] ?? 0) + at, length))
      }
    }
    for (const [i, start] of starts.entries()) {
      const expected = CONTENT.subarray(start, start + MIB)
      expect(digest(Buffer.concat(chunks[i] ?? []))).toBe(digest(expected))
    }
    expect(gets().length).toBeGreaterThan(2)
    await Promise.all(files.map((file) => file.close()))
  })
})

describe('access', () => {
  const check = async (storage: S3Storage): Promise<boolean> => storage.hasContent()

  test('is granted with the right keys', async () => {
    expect(await check(await open())).toBe(true)
  })

  test.each([
    ['a wrong secret', { AWS_SECRET_ACCESS_KEY: 'wrong' }, 'denies access'],
    ['an unknown key', { AWS_ACCESS_KEY_ID: 'nobody' }, 'denies access'],
  ])('is denied with %s', async (_name, environment, message) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    await expect(check(await open())).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining(message),
    })
  })

  test('to a missing bucket is refused', async () => {
    await expect(check(await open({}, 'no-such-bucket'))).rejects.toMatchObject({
      code: 'failed',
      message: 'there is no such bucket',
    })
  })
})

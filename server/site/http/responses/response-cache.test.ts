import { randomBytes } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import type { FormattedText, TextBody } from './answer.ts'
import { ResponseCache } from './response-cache.ts'
import { TextResponse } from './text-response.ts'

const head = () => ({ contentType: 'text/plain', cacheControl: 'no-cache', headers: {} })

function bodyOf(key: string, version: unknown, format: TextBody['format'] = () => '0'): TextBody {
  return { kind: 'text', cached: { key, version }, format }
}

it('stores one response of each name, whatever number of versions it has', () => {
  const cache = new ResponseCache()
  const first = cache.find(bodyOf('a', 0), head)
  const { sizeBytes } = cache
  expect(
    cache.find(
      bodyOf('a', 0, () => expect.unreachable()),
      head,
    ),
  ).toBe(first)
  for (let version = 1; version <= 1000; version += 1) void cache.find(bodyOf('a', version), head)
  expect(cache.sizeBytes).toBe(sizeBytes)
  expect(cache.find(bodyOf('b', 0), head)).not.toBe(first)
  expect(cache.sizeBytes).toBe(2 * sizeBytes)
})

it('compares the items of a version, which is a list, and counts their texts', () => {
  const cache = new ResponseCache()
  const [old, next] = [{}, {}]
  const first = cache.find(bodyOf('a', [1, old]), head)
  const { sizeBytes } = cache
  expect(cache.find(bodyOf('a', [1, old]), head)).toBe(first)
  for (const other of [[1, next], [1], [1, old, undefined], '1']) {
    expect(cache.find(bodyOf('a', other), head)).not.toBe(first)
    expect(cache.find(bodyOf('a', [1, old]), head)).not.toBe(first)
  }
  void cache.find(bodyOf('a', ['x'.repeat(100)]), head)
  expect(cache.sizeBytes).toBe(sizeBytes + 200)
})

it('evicts the name that was not requested for the longest time', () => {
  const one = new ResponseCache()
  void one.find(bodyOf('a', 0), head)
  const cache = new ResponseCache(4 * one.sizeBytes)
  for (const name of ['a', 'b', 'c', 'd', 'a', 'e']) void cache.find(bodyOf(name, 0), head)
  const created: string[] = []
  for (const name of ['a', 'c', 'd', 'e', 'b']) {
    void cache.find(
      bodyOf(name, 0, () => {
        created.push(name)
        return '0'
      }),
      head,
    )
  }
  expect(created).toEqual(['b'])
})

it('has a limit in bytes, which counts every encoding and long versions', async () => {
  const cache = new ResponseCache(800_000)
  const responses = await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      const text = randomBytes(15_000).toString('hex')
      return cache.find(
        bodyOf(String(i), text, () => text),
        head,
      )
    }),
  )
  expect(cache.sizeBytes).toBeGreaterThan(300_000)
  expect(cache.sizeBytes).toBeLessThanOrEqual(800_000)
  for (const response of responses) {
    let encodedBytes = 0
    for (const encoding of ['identity', 'gzip', 'br'] as const) {
      encodedBytes += (await response.encoded(encoding)).bytes.length
    }
    expect(encodedBytes).toBeLessThanOrEqual(response.memoryBytes)
  }
})

it('does not store a response that would evict most others', () => {
  const cache = new ResponseCache(100_000)
  void cache.find(bodyOf('small', 0), head)
  const { sizeBytes } = cache
  void cache.find(
    bodyOf('large', 0, () => 'x'.repeat(30_000)),
    head,
  )
  expect(cache.sizeBytes).toBe(sizeBytes)
})

it('formats once for concurrent requests, and never for a later version', async () => {
  const cache = new ResponseCache()
  const old = Promise.withResolvers<FormattedText>()
  const formatOld = vi.fn<TextBody['format']>(() => old.promise)
  const [first, second] = [1, 1].map((version) => cache.find(bodyOf('a', version, formatOld), head))
  const newer = await cache.find(
    bodyOf('a', 2, () => 'after a name was hidden'),
    head,
  )
  old.resolve('with the hidden name')
  expect(await first).toBe(await second)
  expect(formatOld).toHaveBeenCalledTimes(1)
  const again = await cache.find(
    bodyOf('a', 2, () => 'after a name was hidden'),
    head,
  )
  expect(again.etag).toBe(newer.etag)
})

it('tries again after a failure, and stores nothing of it', async () => {
  const cache = new ResponseCache()
  const unreadable = new Error('unreadable')
  const reject = async (): Promise<string> => Promise.reject(unreadable)
  await expect(cache.find(bodyOf('a', 0, reject), head)).rejects.toThrow('unreadable')
  const fail = (): string => {
    throw unreadable
  }
  expect(() => cache.find(bodyOf('a', 0, fail), head)).toThrow('unreadable')
  expect(cache.sizeBytes).toBe(0)
  expect(cache.find(bodyOf('a', 0), head)).toBeInstanceOf(TextResponse)
})

it('formats again when the time of a response is over', () => {
  vi.useFakeTimers({ now: 0 })
  const cache = new ResponseCache()
  const format = vi.fn<TextBody['format']>(() => ({ text: '0', validUntilMs: 1000 }))
  const find = () => cache.find(bodyOf('a', 0, format), head)
  const first = find()
  vi.setSystemTime(999)
  expect(find()).toBe(first)
  vi.setSystemTime(1000)
  expect(find()).not.toBe(first)
  vi.useRealTimers()
})

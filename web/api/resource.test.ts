import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Resource } from './resource.ts'
import { ResourceCache } from './resource-cache.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const { signal } = new AbortController()

/** Resolves to the number of the call after `delayMs`; `fail` selects the calls that reject. */
function createSource(delayMs = 10, fail: (call: number) => boolean = () => false) {
  const signals: AbortSignal[] = []
  const load = async (given: AbortSignal) => {
    const call = signals.push(given)
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    if (fail(call)) throw new Error(`call ${call}`)
    return call
  }
  return { load, signals }
}

test('loads once for all subscribers', async () => {
  const { load, signals } = createSource()
  const resource = new Resource(load)
  const seen: string[] = []
  resource.subscribe(() => seen.push('a'))
  resource.subscribe(() => seen.push('b'))
  await vi.advanceTimersByTimeAsync(10)
  expect(signals).toHaveLength(1)
  expect(seen).toEqual(['a', 'b'])
  expect(resource.read()).toEqual({ status: 'loaded', value: 1 })
})

test('loads nothing before the first subscription', () => {
  const { load, signals } = createSource()
  expect(new Resource(load).read()).toEqual({ status: 'loading' })
  expect(signals).toHaveLength(0)
})

test('aborts when the last subscriber leaves', () => {
  const { load, signals } = createSource()
  const resource = new Resource(load)
  const leaveFirst = resource.subscribe(() => undefined)
  const leaveSecond = resource.subscribe(() => undefined)
  leaveFirst()
  expect(signals[0]?.aborted).toBe(false)
  leaveSecond()
  expect(signals[0]?.aborted).toBe(true)
})

test('returns a cached value at once, and a newer one if the cached one is stale', async () => {
  const { load } = createSource()
  const resource = new Resource(load)
  resource.subscribe(() => undefined)()
  resource.subscribe(() => undefined)
  await vi.advanceTimersByTimeAsync(10)
  expect(resource.read()).toEqual({ status: 'loaded', value: 2 })
  await vi.advanceTimersByTimeAsync(10_001)
  resource.subscribe(() => undefined)
  expect(resource.read()).toEqual({ status: 'loaded', value: 2 })
  await vi.advanceTimersByTimeAsync(10)
  expect(resource.read()).toEqual({ status: 'loaded', value: 3 })
})

test('keeps a stale value if the reload fails', async () => {
  const { load } = createSource(10, (call) => call === 2)
  const resource = new Resource(load)
  resource.subscribe(() => undefined)
  await vi.advanceTimersByTimeAsync(20_000)
  resource.subscribe(() => undefined)
  await vi.advanceTimersByTimeAsync(10)
  expect(resource.read()).toEqual({ status: 'loaded', value: 1 })
})

test('retries after a failure on the next subscription', async () => {
  const { load } = createSource(10, (call) => call === 1)
  const resource = new Resource(load)
  const leave = resource.subscribe(() => undefined)
  await vi.advanceTimersByTimeAsync(10)
  expect(resource.read()).toEqual({ status: 'failed' })
  leave()
  resource.subscribe(() => undefined)
  expect(resource.read()).toEqual({ status: 'loading' })
  await vi.advanceTimersByTimeAsync(10)
  expect(resource.read()).toEqual({ status: 'loaded', value: 2 })
})

test('settled waits for the value', async () => {
  const settled = new Resource(createSource().load).settled(signal)
  await vi.advanceTimersByTimeAsync(10)
  await expect(settled).resolves.toBe(1)
})

test('settled rejects if the load fails', async () => {
  const { load } = createSource(0, () => true)
  vi.useRealTimers()
  await expect(new Resource(load).settled(signal)).rejects.toThrow('not loaded')
})

test('settled rejects on abort, and stops loading', async () => {
  const { load, signals } = createSource()
  const left = new AbortController()
  const leaving = new Resource(load).settled(left.signal)
  left.abort()
  await expect(leaving).rejects.toThrow('left')
  expect(signals[0]?.aborted).toBe(true)
})

test('a cache evicts the least recently used resource, but none with subscribers', () => {
  const cache = new ResourceCache(2, async (key) => key)
  const watched = cache.get('a')
  watched.subscribe(() => undefined)
  const second = cache.get('b')
  cache.get('c')
  expect(cache.get('a')).toBe(watched)
  expect(cache.get('b')).not.toBe(second)
})

test('loads once if the value never becomes stale', async () => {
  const { load, signals } = createSource()
  const resource = new Resource(load, { maxAgeMs: Infinity })
  const leave = resource.subscribe(() => undefined)
  await vi.advanceTimersByTimeAsync(10)
  leave()
  await vi.advanceTimersByTimeAsync(86_400_000)
  resource.subscribe(() => undefined)
  expect(resource.read()).toEqual({ status: 'loaded', value: 1 })
  expect(signals).toHaveLength(1)
})

test('loads an incomplete value again while it is watched', async () => {
  const { load, signals } = createSource()
  const resource = new Resource(load, { isComplete: (call) => call === 3 })
  const leave = resource.subscribe(() => undefined)
  await vi.advanceTimersByTimeAsync(2020)
  expect(resource.read()).toEqual({ status: 'loaded', value: 2 })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(resource.read()).toEqual({ status: 'loaded', value: 3 })
  expect(signals).toHaveLength(3)
  leave()
})

test('loads nothing again once nobody watches', async () => {
  const { load, signals } = createSource()
  const leave = new Resource(load, { isComplete: () => false }).subscribe(() => undefined)
  await vi.advanceTimersByTimeAsync(10)
  leave()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(signals).toHaveLength(1)
})

test('loads an incomplete value again after a failure, and keeps it until then', async () => {
  const { load, signals } = createSource(10, (call) => call === 2)
  const resource = new Resource(load, { isComplete: (call) => call === 3 })
  const leave = resource.subscribe(() => undefined)
  await vi.advanceTimersByTimeAsync(2020)
  expect(resource.read()).toEqual({ status: 'loaded', value: 1 })
  expect(signals).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(resource.read()).toEqual({ status: 'loaded', value: 3 })
  expect(signals).toHaveLength(3)
  leave()
})

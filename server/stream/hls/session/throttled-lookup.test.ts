import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ThrottledLookup } from './throttled-lookup.ts'

const EVERY_MS = 100

function createCounter(everyMs: number) {
  let count = 0
  const lookups = new ThrottledLookup<number>({ everyMs })
  return { lookup: async (name = 'one') => lookups.lookup(name, async () => (count += 1)) }
}

it('runs the first lookup of a key without delay', async () => {
  // Any delay would exceed the time limit of the test.
  const { lookup } = createCounter(3_600_000)
  expect([await lookup('one'), await lookup('other')]).toEqual([1, 2])
})

it('delays the next lookup, and shares it among all callers before its start', async () => {
  const { lookup } = createCounter(EVERY_MS)
  const startedMs = performance.now()
  await lookup()
  const found = await Promise.all(Array.from({ length: 50 }, async () => lookup()))
  expect(new Set(found)).toEqual(new Set([2]))
  expect(performance.now() - startedMs).toBeGreaterThan(EVERY_MS * 0.8)
})

it('never returns a result from before the call', async () => {
  let now = 0
  const lookups = new ThrottledLookup<number>({ everyMs: 1 })
  const slow = async (): Promise<number> => {
    const seen = now
    await sleep(50)
    return seen
  }
  const first = lookups.lookup('one', slow)
  await sleep(20)
  now = 1
  expect(await lookups.lookup('one', slow)).toBe(1)
  expect(await first).toBe(0)
})

it('runs again after a failure', async () => {
  const lookups = new ThrottledLookup<number>({ everyMs: 1 })
  const failed = lookups.lookup('one', async () => Promise.reject(new Error('gone')))
  await expect(failed).rejects.toThrow('gone')
  expect(await lookups.lookup('one', async () => 1)).toBe(1)
})

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { runForClient } from '../../../base/admission/client.ts'
import { Gate } from '../../../base/admission/gate.ts'
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

it('looks up for a client that shares it, even if the first one waits for too much', async () => {
  const { signal } = new AbortController()
  const gate = new Gate({ limit: 1, waiting: 2, busyMessage: 'full' })
  const lookups = new ThrottledLookup<string>({ everyMs: 1 })
  const started = Promise.withResolvers<void>()
  const find = async () => {
    const found = gate.run(async () => 'found', signal)
    started.resolve()
    return found
  }
  const as = <Value>(client: string, work: () => Value) => runForClient(() => client, work)
  const release = await gate.enter(signal)
  const other = as('first', () => gate.enter(signal))
  const found = ['first', 'second'].map((client) => as(client, () => lookups.lookup('one', find)))
  await started.promise
  const third = as('third', () => gate.enter(signal).catch((error: unknown) => error))
  release()
  const leave = await other
  leave()
  expect(await Promise.all(found)).toEqual(['found', 'found'])
  expect(await third).toMatchObject({ code: 'busy' })
})

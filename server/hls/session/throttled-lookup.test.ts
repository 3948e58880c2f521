import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ThrottledLookup } from './throttled-lookup.ts'

const EVERY_MS = 100

function createCounter(everyMs = EVERY_MS) {
  let count = 0
  const looks = new ThrottledLookup<number>({ everyMs })
  return { lookup: async (name = 'one') => looks.lookup(name, async () => (count += 1)) }
}

it('looks at once where it was not looked a moment ago', async () => {
  const { lookup } = createCounter(3_600_000)
  expect([await lookup('one'), await lookup('other')]).toEqual([1, 2])
})

it('shares the next look among all who ask before it begins, and keeps it apart from the last', async () => {
  const { lookup } = createCounter()
  const begunMs = performance.now()
  await lookup()
  const found = await Promise.all(Array.from({ length: 50 }, async () => lookup()))
  expect(new Set(found)).toEqual(new Set([2]))
  expect(performance.now() - begunMs).toBeGreaterThan(EVERY_MS * 0.8)
})

it('never answers with what was found before it was asked', async () => {
  let now = 0
  const looks = new ThrottledLookup<number>({ everyMs: 1 })
  const slow = async (): Promise<number> => {
    const seen = now
    await sleep(50)
    return seen
  }
  const first = looks.lookup('one', slow)
  await sleep(20)
  now = 1
  expect(await looks.lookup('one', slow)).toBe(1)
  expect(await first).toBe(0)
})

it('looks again after one that failed', async () => {
  const looks = new ThrottledLookup<number>({ everyMs: 1 })
  const failed = looks.lookup('one', async () => Promise.reject(new Error('gone')))
  await expect(failed).rejects.toThrow('gone')
  expect(await looks.lookup('one', async () => 1)).toBe(1)
})

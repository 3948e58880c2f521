// Reads that requests share.
import { expect, it } from 'vitest'
import { shareReads } from './shared-reads.ts'

it('reads once at a time, and again for those who need a newer result', async () => {
  const finishers: ((value: number) => void)[] = []
  const { read, renew } = shareReads(
    async () => new Promise<number>((resolve) => finishers.push(resolve)),
  )
  const first = [read(), read()]
  expect(finishers).toHaveLength(1)
  renew()
  const second = [read(), read()]
  expect(finishers).toHaveLength(1)
  finishers[0]?.(1)
  expect(await Promise.all(first)).toEqual([1, 1])
  await expect.poll(() => finishers).toHaveLength(2)
  finishers[1]?.(2)
  expect(await Promise.all(second)).toEqual([2, 2])
  void read()
  expect(finishers).toHaveLength(3)
})

it('reads again after a failure', async () => {
  let reads = 0
  const { read } = shareReads(async () => {
    reads += 1
    if (reads === 1) throw new Error('once')
    return reads
  })
  await expect(read()).rejects.toThrow('once')
  expect(await read()).toBe(2)
})

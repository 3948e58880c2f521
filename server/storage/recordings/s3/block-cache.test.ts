import { expect, test } from 'vitest'
import { BLOCK_BYTES, BlockCache } from './block-cache.ts'

const OBJECT = { number: 1, sizeBytes: 10 * BLOCK_BYTES + 5 }

async function load(cache: BlockCache, index: number): Promise<void> {
  await cache.load(OBJECT, { first: index, end: index + 1 }, async ([block]) => {
    block?.fill(index)
  })
}

test('has the blocks that were used last, with their own bytes', async () => {
  const cache = new BlockCache(3 * BLOCK_BYTES)
  for (const index of [0, 1, 2]) await load(cache, index)
  expect(cache.get(OBJECT, 0)?.every((byte) => byte === 0)).toBe(true)
  await load(cache, 3)
  expect([0, 1, 2, 3].map((index) => cache.has(OBJECT, index))).toEqual([true, false, true, true])
  for (const index of [0, 2, 3]) {
    expect(cache.get(OBJECT, index)?.every((byte) => byte === index)).toBe(true)
  }
})

test('uses the memory of evicted blocks, and of blocks that were not loaded', async () => {
  const cache = new BlockCache(2 * BLOCK_BYTES)
  const memories = new Set<ArrayBufferLike>()
  for (let round = 0; round < 200; round += 1) {
    await load(cache, round % 10)
    const bytes = cache.get(OBJECT, round % 10)
    if (bytes !== undefined) memories.add(bytes.buffer)
    const run = { first: 10, end: 11 }
    const failing = cache.load(OBJECT, run, () => Promise.reject(new Error('no bytes')))
    await expect(failing).rejects.toThrow('no bytes')
    expect(cache.has(OBJECT, 10)).toBe(false)
  }
  expect(memories.size).toBe(1)
})

test('has the last block of an object in its length', async () => {
  const cache = new BlockCache(2 * BLOCK_BYTES)
  const loading = load(cache, 10)
  expect(cache.inFlight(OBJECT, 10)).toBeInstanceOf(Promise)
  await loading
  expect(cache.inFlight(OBJECT, 10)).toBeUndefined()
  expect(cache.get(OBJECT, 10)).toHaveLength(5)
})

test('has one number for each object', () => {
  const cache = new BlockCache(BLOCK_BYTES)
  const [a, b, again] = ['a', 'b', 'a'].map((id) => cache.objectOf(id, 10).number)
  expect(b).not.toBe(a)
  expect(again).toBe(a)
})

test('loads a run of blocks together, and no more than a part of its memory', async () => {
  const cache = new BlockCache(16 * BLOCK_BYTES)
  await load(cache, 2)
  expect(cache.endOfMissing(OBJECT, { first: 0, end: 9 })).toBe(2)
  const run = { first: 3, end: cache.endOfMissing(OBJECT, { first: 3, end: 9 }) }
  expect(run.end).toBe(7)
  const loading = cache.load(OBJECT, run, async (blocks) => {
    for (const [i, block] of blocks.entries()) block.fill(3 + i)
  })
  expect(cache.inFlight(OBJECT, 6)).toBe(cache.inFlight(OBJECT, 3))
  expect(cache.endOfMissing(OBJECT, run)).toBe(run.first)
  await loading
  for (const index of [2, 3, 4, 5, 6]) {
    expect(cache.get(OBJECT, index)?.every((byte) => byte === index)).toBe(true)
  }
})

import { createCipheriv, createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadPageCache } from '../storage/page-cache.ts'
import type { PageCache } from '../storage/page-cache.ts'
import { eachChunk } from './chunk-source.ts'
import type { Chunk } from './chunk-source.ts'
import type { SegmentSource } from './cached-segment.ts'
import { SegmentCache } from './segment-cache.ts'
import type { SegmentLease } from './segment-cache.ts'

const CHUNK_BYTES = 100_000
const BLOCK_BYTES = 256 * 1024
/** More than two of the chunks that a buffer is read in. */
const SIZE_BYTES = 2 * BLOCK_BYTES + 1000

/** Bytes that differ everywhere and between keys, so that a wrong place shows. */
function bytesOf(key: string, sizeBytes = SIZE_BYTES): Buffer {
  const cipherKey = createHash('md5').update(key).digest()
  return createCipheriv('aes-128-ctr', cipherKey, Buffer.alloc(16)).update(Buffer.alloc(sizeBytes))
}

interface SourceOptions {
  sizeBytes?: number
  /** Awaited before each chunk. */
  gate?: Promise<unknown>
  check?: () => Promise<void>
}

function sourceOf(
  key: string,
  { sizeBytes, gate, check = async () => undefined }: SourceOptions = {},
): SegmentSource {
  const bytes = bytesOf(key, sizeBytes)
  let position = 0
  const take = (): Chunk => {
    const chunk = bytes.subarray(position, position + CHUNK_BYTES)
    position += chunk.length
    return chunk.length > 0 ? chunk : undefined
  }
  return {
    chunks: { next: () => (gate === undefined ? take() : gate.then(take)) },
    checkUnchanged: check,
  }
}

/** How often segments were made, and what asks for them. */
function createAsker(cache: SegmentCache) {
  const made: string[] = []
  const hold = (key: string, options?: SourceOptions): SegmentLease | undefined =>
    cache.hold({ key, sizeBytes: SIZE_BYTES }, () => {
      made.push(key)
      return sourceOf(key, options)
    })
  const ask = async (key: string): Promise<boolean> => {
    const held = hold(key)
    await held?.release()
    return held !== undefined
  }
  return { made, hold, ask }
}

async function readAll(held: SegmentLease | undefined, start = 0, end = SIZE_BYTES) {
  const chunks: Uint8Array[] = []
  if (held === undefined) throw new Error('it is not held')
  for await (const chunk of eachChunk(held.read({ start, end }))) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

describe.each(['files in memory', 'buffers'])('with %s', (memory) => {
  let pageCache: PageCache | undefined

  beforeAll(async () => {
    if (memory === 'buffers') return
    pageCache = await loadPageCache()
  })

  /** @param segments as many as there is room for */
  function createCache(segments: number): SegmentCache {
    return new SegmentCache({ maxBytes: segments * SIZE_BYTES, pageCache })
  }

  it('holds what is asked for twice, makes it once, and gives it whole and in part', async () => {
    const cache = createCache(5.5)
    const { hold, made } = createAsker(cache)
    expect(hold('a')).toBeUndefined()
    const [first, second] = [hold('a'), hold('a')]
    const bodies = await Promise.all([readAll(first), readAll(second)])
    expect(bodies.map((body) => body.equals(bytesOf('a')))).toEqual([true, true])
    await Promise.all([first?.release(), second?.release()])
    const third = hold('a')
    for (const [start, end] of [
      [0, 1],
      [BLOCK_BYTES - 1, BLOCK_BYTES + 1],
      [BLOCK_BYTES, 2 * BLOCK_BYTES],
      [12_345, SIZE_BYTES],
      [SIZE_BYTES - 1, SIZE_BYTES],
    ] as const) {
      const part = await readAll(third, start, end)
      expect(part.equals(bytesOf('a').subarray(start, end))).toBe(true)
    }
    expect(made).toEqual(['a'])
    expect(cache.figures).toEqual({ hits: 2, misses: 2, cachedBytes: SIZE_BYTES })
  })

  it('never takes more memory than it may, and keeps what was asked for last', async () => {
    const cache = createCache(4.5)
    const { ask } = createAsker(cache)
    for (const key of ['a', 'b', 'c', 'd'])
      expect([await ask(key), await ask(key)]).toEqual([false, true])
    expect(cache.figures.cachedBytes).toBe(4 * SIZE_BYTES)
    await ask('a')
    expect([await ask('e'), await ask('e'), await ask('e')]).toEqual([false, false, true])
    expect(cache.figures.cachedBytes).toBe(4 * SIZE_BYTES)
    // The one that had to go is asked for more often now than the one that is oldest.
    expect(await ask('a')).toBe(true)
    expect(await ask('b')).toBe(true)
  })

  it('is not flushed by a sweep over many segments', async () => {
    const cache = createCache(4.5)
    const { ask, made } = createAsker(cache)
    for (let i = 0; i < 5; i += 1) for (const key of ['a', 'b', 'c', 'd']) await ask(key)
    for (let i = 0; i < 500; i += 1) expect(await ask(`once ${i}`)).toBe(false)
    for (let i = 0; i < 500; i += 1) expect(await ask(`once ${i}`)).toBe(false)
    expect(made).toEqual(['a', 'b', 'c', 'd'])
  })

  it('forgets what was popular once', async () => {
    const cache = createCache(4)
    const { ask, made } = createAsker(cache)
    for (const key of ['a', 'b', 'c', 'd']) for (let i = 0; i < 100; i += 1) await ask(key)
    // As those who watch a broadcast do: each segment for a while, and never again.
    for (let i = 0; i < 100; i += 1) for (let n = 0; n < 100; n += 1) await ask(`live ${i}`)
    expect(made.length).toBe(104)
    expect(await ask('a')).toBe(false)
  })

  it('leaves memory alone that a response still reads from', async () => {
    const cache = createCache(4)
    const { ask, hold } = createAsker(cache)
    const slow = new Map<string, SegmentLease | undefined>()
    for (const key of ['a', 'b', 'c', 'd']) {
      await ask(key)
      slow.set(key, hold(key))
    }
    for (let i = 0; i < 20; i += 1) expect(await ask('e')).toBe(false)
    for (const [key, held] of slow) expect((await readAll(held)).equals(bytesOf(key))).toBe(true)
    await slow.get('c')?.release()
    expect(await ask('e')).toBe(true)
    expect((await readAll(hold('e'))).equals(bytesOf('e'))).toBe(true)
    expect((await readAll(slow.get('a'))).equals(bytesOf('a'))).toBe(true)
  })

  it('does not take a segment that is a large part of it', () => {
    const cache = createCache(3.9)
    const { hold } = createAsker(cache)
    for (let i = 0; i < 5; i += 1) expect(hold('a')).toBeUndefined()
  })

  it('fills although whoever asked first has left, and is released only then', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const cache = createCache(5.5)
    const { hold, made } = createAsker(cache)
    hold('a')
    const state = { isReleased: false }
    const released = hold('a', { gate })
      ?.release()
      .then(() => (state.isReleased = true))
    const other = readAll(hold('a'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(state.isReleased).toBe(false)
    open()
    expect((await other).equals(bytesOf('a'))).toBe(true)
    await released
    expect(made).toEqual(['a'])
  })

  it('gives no whole body of a recording that changed, to nobody, and does not keep it', async () => {
    const { promise: isChanged, resolve: change } = Promise.withResolvers<void>()
    const check = async (): Promise<void> => {
      await isChanged
      throw new Error('another recording')
    }
    const cache = createCache(5.5)
    const { hold } = createAsker(cache)
    hold('a')
    const holds = [hold('a', { check }), hold('a')]
    const sources = holds.map((held) => held?.read({ start: 0, end: SIZE_BYTES }))
    const early = hold('a')?.read({ start: 0, end: 1 }).next()
    for (const source of sources) {
      for (let read = 0; read < SIZE_BYTES - 1;) read += (await source?.next())?.length ?? 0
    }
    const last = sources.map(async (source) => source?.next())
    const ends = [...last, early].map(async (end) =>
      expect(end).rejects.toThrow('another recording'),
    )
    change()
    await Promise.all(ends)
    await Promise.all(holds.map(async (held) => held?.release()))
    const again = hold('a')
    expect((await readAll(again)).equals(bytesOf('a'))).toBe(true)
  })

  it.each([SIZE_BYTES - 1, SIZE_BYTES + 1])(
    'does not keep a segment that comes to %i bytes instead of those that were planned',
    async (sizeBytes) => {
      const cache = createCache(4)
      const { hold } = createAsker(cache)
      hold('a')
      const held = hold('a', { sizeBytes })
      await expect(readAll(held)).rejects.toThrow('not as long as it was planned')
      await held?.release()
      expect(cache.figures.cachedBytes).toBe(0)
    },
  )
})

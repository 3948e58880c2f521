import { createCipheriv, createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadPageCache } from '../../storage/recordings/page-cache.ts'
import type { PageCache } from '../../storage/recordings/page-cache.ts'
import { eachChunk } from './chunk-source.ts'
import type { Chunk } from './chunk-source.ts'
import type { SegmentSource } from './cached-segment.ts'
import { SegmentCache } from './segment-cache.ts'
import type { SegmentLease } from './segment-cache.ts'

const CHUNK_BYTES = 100_000
const BLOCK_BYTES = 256 * 1024
/** More than two of the chunks that a buffer is read in. */
const SIZE_BYTES = 2 * BLOCK_BYTES + 1000

/** Bytes that differ everywhere and between keys, so that a wrong position is noticed. */
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

/** Requests segments, and lists those that were created. */
function createClient(cache: SegmentCache) {
  const created: string[] = []
  const lease = (key: string, options?: SourceOptions): SegmentLease | undefined =>
    cache.lease({ key, sizeBytes: SIZE_BYTES }, () => {
      created.push(key)
      return sourceOf(key, options)
    })
  const request = async (key: string): Promise<boolean> => {
    const leased = lease(key)
    await leased?.release()
    return leased !== undefined
  }
  return { created, lease, request }
}

async function readAll(leased: SegmentLease | undefined, start = 0, end = SIZE_BYTES) {
  const chunks: Uint8Array[] = []
  if (leased === undefined) throw new Error('it is not cached')
  for await (const chunk of eachChunk(leased.read({ start, end }))) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

describe.each(['memory files', 'buffers'])('with %s', (memory) => {
  let pageCache: PageCache | undefined

  beforeAll(async () => {
    if (memory === 'buffers') return
    pageCache = await loadPageCache()
  })

  /** @param segments that fit */
  function createCache(segments: number): SegmentCache {
    return new SegmentCache({ maxBytes: segments * SIZE_BYTES, pageCache })
  }

  it('caches a segment from the second request on, and returns it whole and in part', async () => {
    const cache = createCache(5.5)
    const { lease, created } = createClient(cache)
    expect(lease('a')).toBeUndefined()
    const [first, second] = [lease('a'), lease('a')]
    const bodies = await Promise.all([readAll(first), readAll(second)])
    expect(bodies.map((body) => body.equals(bytesOf('a')))).toEqual([true, true])
    await Promise.all([first?.release(), second?.release()])
    const third = lease('a')
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
    expect(created).toEqual(['a'])
    expect(cache.figures).toEqual({ hits: 2, misses: 2, cachedBytes: SIZE_BYTES })
  })

  it('never exceeds its size, and evicts the least recently requested segment', async () => {
    const cache = createCache(4.5)
    const { request } = createClient(cache)
    for (const key of ['a', 'b', 'c', 'd'])
      expect([await request(key), await request(key)]).toEqual([false, true])
    expect(cache.figures.cachedBytes).toBe(4 * SIZE_BYTES)
    await request('a')
    expect([await request('e'), await request('e'), await request('e')]).toEqual([
      false,
      false,
      true,
    ])
    expect(cache.figures.cachedBytes).toBe(4 * SIZE_BYTES)
    // The evicted one is now more popular than the oldest one.
    expect(await request('a')).toBe(true)
    expect(await request('b')).toBe(true)
  })

  it('is not flushed by a scan over many segments', async () => {
    const cache = createCache(4.5)
    const { request, created } = createClient(cache)
    for (let i = 0; i < 5; i += 1) for (const key of ['a', 'b', 'c', 'd']) await request(key)
    for (let i = 0; i < 500; i += 1) expect(await request(`once ${i}`)).toBe(false)
    for (let i = 0; i < 500; i += 1) expect(await request(`once ${i}`)).toBe(false)
    expect(created).toEqual(['a', 'b', 'c', 'd'])
  })

  it('evicts segments that are no longer popular', async () => {
    const cache = createCache(4)
    const { request, created } = createClient(cache)
    for (const key of ['a', 'b', 'c', 'd']) for (let i = 0; i < 100; i += 1) await request(key)
    // As viewers of a live stream: each segment for a while, and never again.
    for (let i = 0; i < 100; i += 1) for (let n = 0; n < 100; n += 1) await request(`live ${i}`)
    expect(created.length).toBe(104)
    expect(await request('a')).toBe(false)
  })

  it('does not free memory that a response still reads', async () => {
    const cache = createCache(4)
    const { request, lease } = createClient(cache)
    const slow = new Map<string, SegmentLease | undefined>()
    for (const key of ['a', 'b', 'c', 'd']) {
      await request(key)
      slow.set(key, lease(key))
    }
    for (let i = 0; i < 20; i += 1) expect(await request('e')).toBe(false)
    for (const [key, leased] of slow)
      expect((await readAll(leased)).equals(bytesOf(key))).toBe(true)
    await slow.get('c')?.release()
    expect(await request('e')).toBe(true)
    expect((await readAll(lease('e'))).equals(bytesOf('e'))).toBe(true)
    expect((await readAll(slow.get('a'))).equals(bytesOf('a'))).toBe(true)
  })

  it('does not cache a segment that would use a large share', () => {
    const cache = createCache(3.9)
    const { lease } = createClient(cache)
    for (let i = 0; i < 5; i += 1) expect(lease('a')).toBeUndefined()
  })

  it('is filled although the first client has disconnected, and released only then', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const cache = createCache(5.5)
    const { lease, created } = createClient(cache)
    lease('a')
    const state = { isReleased: false }
    const released = lease('a', { gate })
      ?.release()
      .then(() => (state.isReleased = true))
    const other = readAll(lease('a'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(state.isReleased).toBe(false)
    open()
    expect((await other).equals(bytesOf('a'))).toBe(true)
    await released
    expect(created).toEqual(['a'])
  })

  it('returns no complete body of a changed recording, and does not cache it', async () => {
    const { promise: isChanged, resolve: change } = Promise.withResolvers<void>()
    const check = async (): Promise<void> => {
      await isChanged
      throw new Error('another recording')
    }
    const cache = createCache(5.5)
    const { lease } = createClient(cache)
    lease('a')
    const leases = [lease('a', { check }), lease('a')]
    const sources = leases.map((leased) => leased?.read({ start: 0, end: SIZE_BYTES }))
    const early = lease('a')?.read({ start: 0, end: 1 }).next()
    for (const source of sources) {
      for (let read = 0; read < SIZE_BYTES - 1;) read += (await source?.next())?.length ?? 0
    }
    const last = sources.map(async (source) => source?.next())
    const ends = [...last, early].map(async (end) =>
      expect(end).rejects.toThrow('another recording'),
    )
    change()
    await Promise.all(ends)
    await Promise.all(leases.map(async (leased) => leased?.release()))
    const again = lease('a')
    expect((await readAll(again)).equals(bytesOf('a'))).toBe(true)
  })

  it.each([SIZE_BYTES - 1, SIZE_BYTES + 1])(
    'does not cache a segment that has %i bytes, unlike its plan',
    async (sizeBytes) => {
      const cache = createCache(4)
      const { lease } = createClient(cache)
      lease('a')
      const leased = lease('a', { sizeBytes })
      await expect(readAll(leased)).rejects.toThrow('does not have its planned size')
      await leased?.release()
      expect(cache.figures.cachedBytes).toBe(0)
    },
  )
})

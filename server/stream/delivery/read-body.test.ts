import { createDecipheriv, createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Part } from '../../media/media-reader.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { BufferPool, BufferLease } from './buffer-pool.ts'
import { eachChunk } from './chunk-source.ts'
import { loadEncryptBlocks } from './block-cipher.ts'
import { SegmentCipher, segmentIv } from './encryption.ts'
import { encryptChunks, windowChunks } from './chunk-transforms.ts'
import { readBody, readBodyHead, readWholeBody } from './read-body.ts'
import { segmentBody, sliceBody } from './segment-body.ts'

/** Bytes that differ everywhere, so that a wrong position is noticed. */
const bytes = Buffer.concat(
  Array.from({ length: 80_000 }, (_, i) => createHash('sha256').update(String(i)).digest()),
)

/** A file in memory. With `shortReads`, some reads return fewer bytes, as a disk may. */
function memoryFile({ shortReads }: { shortReads: boolean }): OpenFile & { reads: number } {
  const file = {
    stat: { sizeBytes: bytes.length, modifiedMs: 0, version: '1' },
    reads: 0,
    async read(buffer: Uint8Array, position: number): Promise<number> {
      file.reads += 1
      const length =
        shortReads && file.reads % 3 === 0 ? Math.ceil(buffer.length / 2) : buffer.length
      const slice = bytes.subarray(position, position + length)
      buffer.set(slice)
      return slice.length
    },
    async readv(buffers: readonly Uint8Array[], position: number): Promise<number> {
      let count = 0
      for (const buffer of buffers) {
        const got = await file.read(buffer, position + count)
        count += got
        if (got < buffer.length) break
      }
      return count
    },
    async checkUnchanged(): Promise<void> {},
    async close(): Promise<void> {},
  }
  return file
}

async function readAll(parts: Part[], shortReads = false): Promise<Buffer> {
  const buffers = new BufferLease(new BufferPool())
  const chunks: Buffer[] = []
  for await (const chunk of eachChunk(
    readBody(memoryFile({ shortReads }), segmentBody(parts), buffers),
  )) {
    chunks.push(Buffer.from(chunk))
  }
  buffers.release()
  return Buffer.concat(chunks)
}

function expected(parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.map((part) => {
      if (part.kind === 'bytes') return part.bytes
      const range = bytes.subarray(part.offset, part.offset + part.length)
      if (part.packing === undefined) return range
      const packets = Array.from({ length: part.length / 192 }, (_, i) =>
        range.subarray(i * 192 + 4, (i + 1) * 192),
      )
      return Buffer.concat(packets)
    }),
  )
}

/** Interleaved tracks: all video ranges, then all audio ranges, as in a computed segment. */
const interleaved = fc
  .array(
    fc.tuple(
      fc.integer({ min: 1, max: 40_000 }),
      fc.integer({ min: 0, max: 3000 }),
      fc.integer({ min: 0, max: 60_000 }),
    ),
    {
      minLength: 1,
      maxLength: 40,
    },
  )
  .map((groups): Part[] => {
    const video: Part[] = []
    const audio: Part[] = []
    let offset = 0
    for (const [videoBytes, audioBytes, gap] of groups) {
      video.push({ kind: 'range', offset, length: videoBytes })
      offset += videoBytes
      if (audioBytes > 0) audio.push({ kind: 'range', offset, length: audioBytes })
      offset += audioBytes + gap
    }
    return [{ kind: 'bytes', bytes: Buffer.from('head') }, ...video, ...audio]
  })
  .filter((parts) =>
    parts.every((part) => part.kind === 'bytes' || part.offset + part.length <= bytes.length),
  )

const anyParts = fc.array(
  fc.oneof(
    fc
      .record({
        offset: fc.nat(bytes.length - 300_000),
        length: fc.integer({ min: 1, max: 300_000 }),
      })
      .map(({ offset, length }): Part => ({ kind: 'range', offset, length })),
    fc
      .record({ offset: fc.nat(1000), packets: fc.integer({ min: 1, max: 5000 }) })
      .map(({ offset, packets }): Part => ({
        kind: 'range',
        offset,
        length: packets * 192,
        packing: 'm2ts',
      })),
    fc
      .uint8Array({ minLength: 1, maxLength: 500 })
      .map((own): Part => ({ kind: 'bytes', bytes: own })),
  ),
  { minLength: 1, maxLength: 12 },
)

describe('readBody', () => {
  it('returns interleaved tracks one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(interleaved, fc.boolean(), async (parts, shortReads) => {
        expect((await readAll(parts, shortReads)).equals(expected(parts))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('returns any parts in their order', async () => {
    await fc.assert(
      fc.asyncProperty(anyParts, fc.boolean(), async (parts, shortReads) => {
        expect((await readAll(parts, shortReads)).equals(expected(parts))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('reads interleaved ranges once, in few reads', async () => {
    const file = memoryFile({ shortReads: false })
    let readvCalls = 0
    const counted: OpenFile = {
      ...file,
      readv: async (buffers, position) => {
        readvCalls += 1
        return file.readv(buffers, position)
      },
    }
    const video: Part[] = Array.from({ length: 180 }, (_, i) => ({
      kind: 'range',
      offset: i * 10_000,
      length: 9000,
    }))
    const audio: Part[] = Array.from({ length: 180 }, (_, i) => ({
      kind: 'range',
      offset: i * 10_000 + 9000,
      length: 1000,
    }))
    const buffers = new BufferLease(new BufferPool())
    for await (const chunk of eachChunk(
      readBody(counted, segmentBody([...video, ...audio]), buffers),
    ))
      void chunk
    expect(readvCalls).toBeLessThanOrEqual(6)
  })

  it('reads very many ranges backwards', async () => {
    const count = 300_000
    const parts = Array.from({ length: count }, (_, i): Part => {
      return { kind: 'range', offset: count - i, length: 1 }
    })
    const read = await readAll(parts)
    expect(read.equals(Buffer.from(bytes.subarray(1, count + 1)).reverse())).toBe(true)
  })

  it('fails if the recording has become shorter', async () => {
    await expect(
      readAll([{ kind: 'range', offset: bytes.length - 10, length: 20 }]),
    ).rejects.toMatchObject({
      code: 'failed',
    })
  })
})

describe('readWholeBody and readBodyHead', () => {
  it('return the body, or its first bytes', async () => {
    await fc.assert(
      fc.asyncProperty(anyParts, fc.nat(600_000), async (parts, maxBytes) => {
        const file = memoryFile({ shortReads: true })
        const body = segmentBody(parts)
        const whole = await readWholeBody(file, body)
        expect(expected(parts).equals(whole)).toBe(true)
        const head = await readBodyHead(file, body, maxBytes)
        expect(expected(parts).subarray(0, maxBytes).equals(head)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })
})

describe('sending from the file', () => {
  /** What a socket accepts: some bytes, none while it is full, or undefined for no sendfile. */
  const accepting = fc.array(fc.oneof(fc.nat(200_000), fc.constant(undefined)), { minLength: 1 })

  it('preserves the order of the body, and the last bytes are always a chunk', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyParts,
        accepting,
        fc.tuple(fc.nat(), fc.nat()),
        async (parts, turns, [a, b]) => {
          const body = segmentBody(parts)
          const start = a % body.sizeBytes
          const end = start + 1 + (b % (body.sizeBytes - start))
          const slice = sliceBody(body, { start, end })
          const received: Buffer[] = []
          let turn = 0
          const file: OpenFile = {
            ...memoryFile({ shortReads: true }),
            sendCached(position, length) {
              const accepted = turns[turn++ % turns.length]
              if (accepted === undefined) return undefined
              const slice = bytes.subarray(position, position + Math.min(accepted, length))
              received.push(Buffer.from(slice))
              return slice.length
            },
          }
          let isChecked = false
          const buffers = new BufferLease(new BufferPool())
          const window = { start: slice.skipBytes, end: slice.skipBytes + end - start }
          const source = windowChunks(readBody(file, slice.body, buffers), window, async () => {
            expect(Buffer.concat(received).length).toBeLessThan(end - start)
            isChecked = true
          })
          for (;;) {
            const sent = source.send?.(1, 100_000)
            expect(sent ?? 0).toBeLessThanOrEqual(100_000)
            if (sent !== undefined && sent > 0) continue
            const chunk = await source.next(sent === 0 ? 1000 : undefined)
            if (chunk === undefined) break
            received.push(Buffer.from(chunk))
          }
          expect(isChecked).toBe(true)
          expect(Buffer.concat(received).equals(expected(parts).subarray(start, end))).toBe(true)
        },
      ),
      { numRuns: 100 },
    )
  })

  it('includes all of a long range except its last byte', async () => {
    const parts: Part[] = [
      { kind: 'bytes', bytes: Buffer.from('head') },
      { kind: 'range', offset: 7, length: 1_000_000 },
    ]
    const file: OpenFile = {
      ...memoryFile({ shortReads: false }),
      sendCached: (_, length) => length,
    }
    const buffers = new BufferLease(new BufferPool())
    const window = { start: 0, end: 1_000_004 }
    const source = windowChunks(readBody(file, segmentBody(parts), buffers), window)
    expect(source.send?.(1, 2_000_000)).toBeUndefined()
    expect(await source.next()).toEqual(Buffer.from('head'))
    expect(source.send?.(1, 2_000_000)).toBe(999_999)
    expect(await source.next()).toEqual(bytes.subarray(1_000_006, 1_000_007))
    expect(await source.next()).toBeUndefined()
  })
})

describe('encryptChunks', () => {
  const key = Buffer.alloc(16, 7)

  it('decrypts to the body, with chunks of any size', async () => {
    const encryptBlocks = await loadEncryptBlocks()
    await fc.assert(
      fc.asyncProperty(anyParts, fc.integer({ min: 1, max: 400_000 }), async (parts, maxBytes) => {
        const before = expected(parts)
        const buffers = new BufferLease(new BufferPool())
        const plain = readBody(memoryFile({ shortReads: true }), segmentBody(parts), buffers)
        const cipher = new SegmentCipher({ key, iv: segmentIv({ number: 9 }) }, encryptBlocks)
        const source = encryptChunks(plain, cipher, buffers)
        const iv = Buffer.from('0'.repeat(31) + '9', 'hex')
        const decipher = createDecipheriv('aes-128-cbc', key, iv)
        const decrypted: Buffer[] = []
        for (;;) {
          const chunk = await source.next(decrypted.length % 2 === 0 ? maxBytes : undefined)
          if (chunk === undefined) break
          expect(chunk.length).toBeGreaterThan(0)
          decrypted.push(decipher.update(chunk))
        }
        decrypted.push(decipher.final())
        expect(Buffer.concat(decrypted).equals(before)).toBe(true)
        // Cached bytes of other responses are not overwritten.
        expect(expected(parts).equals(before)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

describe('sliceBody', () => {
  it('returns any byte window of the body', async () => {
    await fc.assert(
      fc.asyncProperty(anyParts, fc.nat(), fc.nat(), async (parts, a, b) => {
        const body = segmentBody(parts)
        const start = a % body.sizeBytes
        const end = start + 1 + (b % (body.sizeBytes - start))
        const slice = sliceBody(body, { start, end })
        const buffers = new BufferLease(new BufferPool())
        const chunks: Buffer[] = []
        const window = { start: slice.skipBytes, end: slice.skipBytes + end - start }
        const source = readBody(memoryFile({ shortReads: false }), slice.body, buffers)
        for await (const chunk of eachChunk(windowChunks(source, window))) {
          chunks.push(Buffer.from(chunk))
        }
        expect(Buffer.concat(chunks).equals(expected(parts).subarray(start, end))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

import { createDecipheriv, createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Part } from '../media/media-reader.ts'
import type { OpenFile } from '../storage/storage.ts'
import { BufferPool, LentBuffers } from './buffer-pool.ts'
import { eachChunk } from './chunk-source.ts'
import { createSegmentCipher, segmentIv } from './encryption.ts'
import { encryptChunks, readBody, windowChunks } from './read-body.ts'
import { segmentBody, sliceBody } from './segment-body.ts'

/** Bytes that differ everywhere, so that a wrong place shows. */
const bytes = Buffer.concat(
  Array.from({ length: 80_000 }, (_, i) => createHash('sha256').update(String(i)).digest()),
)

/** A file in memory that reads short now and then, as a disk may. */
function memoryFile({ shortReads }: { shortReads: boolean }): OpenFile & { reads: number } {
  const file = {
    stat: { sizeBytes: bytes.length, modifiedMs: 0 },
    reads: 0,
    async read(buffer: Uint8Array, position: number): Promise<number> {
      file.reads += 1
      const wanted =
        shortReads && file.reads % 3 === 0 ? Math.ceil(buffer.length / 2) : buffer.length
      const piece = bytes.subarray(position, position + wanted)
      buffer.set(piece)
      return piece.length
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
  const lent = new LentBuffers(new BufferPool(), 'plain')
  const chunks: Buffer[] = []
  for await (const chunk of eachChunk(
    readBody(memoryFile({ shortReads }), segmentBody(parts), lent),
  )) {
    chunks.push(Buffer.from(chunk))
  }
  lent.giveBack()
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

/** Interleaved tracks: pictures first, sound behind them, as in a computed segment. */
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
  it('sends interleaved tracks one behind the other', async () => {
    await fc.assert(
      fc.asyncProperty(interleaved, fc.boolean(), async (parts, shortReads) => {
        expect((await readAll(parts, shortReads)).equals(expected(parts))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('sends any parts in their order', async () => {
    await fc.assert(
      fc.asyncProperty(anyParts, fc.boolean(), async (parts, shortReads) => {
        expect((await readAll(parts, shortReads)).equals(expected(parts))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('reads an interleaved stretch once, in few reads', async () => {
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
    const lent = new LentBuffers(new BufferPool(), 'plain')
    for await (const chunk of eachChunk(readBody(counted, segmentBody([...video, ...audio]), lent)))
      void chunk
    expect(readvCalls).toBeLessThanOrEqual(6)
  })

  it('fails where the recording became shorter', async () => {
    await expect(
      readAll([{ kind: 'range', offset: bytes.length - 10, length: 20 }]),
    ).rejects.toMatchObject({
      code: 'failed',
    })
  })
})

describe('encryptChunks', () => {
  it('gives what decrypts to the body, and frees each chunk when the next is asked for', async () => {
    const key = Buffer.alloc(16, 7)
    const parts: Part[] = [{ kind: 'range', offset: 5, length: 2_500_001 }]
    const lent = new LentBuffers(new BufferPool(), 'encrypted')
    const plain = readBody(memoryFile({ shortReads: true }), segmentBody(parts), lent)
    const decipher = createDecipheriv('aes-128-cbc', key, Buffer.from('0'.repeat(31) + '9', 'hex'))
    const decrypted: Buffer[] = []
    const seen: Uint8Array[] = []
    const cipher = createSegmentCipher({ key, iv: segmentIv({ number: 9 }) })
    for await (const chunk of eachChunk(encryptChunks(plain, cipher))) {
      expect(seen.every(({ byteLength }) => byteLength === 0)).toBe(true)
      expect(chunk.byteLength).toBeGreaterThan(0)
      decrypted.push(decipher.update(chunk))
      seen.push(chunk)
    }
    decrypted.push(decipher.final())
    expect(seen.length).toBeGreaterThan(2)
    expect(Buffer.concat(decrypted).equals(expected(parts))).toBe(true)
  })
})

describe('sliceBody', () => {
  it('gives any range of the body', async () => {
    await fc.assert(
      fc.asyncProperty(anyParts, fc.nat(), fc.nat(), async (parts, a, b) => {
        const body = segmentBody(parts)
        const start = a % body.sizeBytes
        const end = start + 1 + (b % (body.sizeBytes - start))
        const slice = sliceBody(body, { start, end })
        const lent = new LentBuffers(new BufferPool(), 'plain')
        const chunks: Buffer[] = []
        const window = { start: slice.skipBytes, end: slice.skipBytes + end - start }
        const source = readBody(memoryFile({ shortReads: false }), slice.body, lent)
        for await (const chunk of eachChunk(windowChunks(source, window))) {
          chunks.push(Buffer.from(chunk))
        }
        expect(Buffer.concat(chunks).equals(expected(parts).subarray(start, end))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

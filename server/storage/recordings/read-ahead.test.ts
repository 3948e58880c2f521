// Prefetched bytes equal the file's at every position, and are requested before they are needed.
// is needed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FolderStorage } from './folder/folder-storage.ts'
import { loadPageCache } from './page-cache.ts'
import { readAhead, readCached } from './read-ahead.ts'
import type { OpenFile } from './storage.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

const BYTES = Buffer.from(Uint32Array.from({ length: 2500 }, (_, i) => i * 2_654_435_761).buffer)
const OPTIONS = { chunkBytes: 700, chunks: 3 }

let folder: string
let file: OpenFile

describe('readAhead', () => {
  beforeAll(async () => {
    folder = makeTempFolder('ahead')
    writeFileSync(join(folder, 'file'), BYTES)
    file = await new FolderStorage(folder).open('file')
  })

  afterAll(async () => file.close())

  it('gives the bytes of the file in whatever order they are read', async () => {
    const reads = fc.array(
      fc.record({ step: fc.integer({ min: -1500, max: 1500 }), length: fc.nat(2000) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.nat(BYTES.length), reads, async (start, list) => {
        const ahead = readAhead(file, OPTIONS)
        let position = start
        for (const { step, length } of list) {
          const buffer = Buffer.alloc(length)
          const count = await ahead.read(buffer, position)
          const expected = BYTES.subarray(position, position + length)
          expect(buffer.subarray(0, count).equals(expected)).toBe(true)
          // Half of the reads begin where the last one ended.
          position = Math.max(
            0,
            position + count + (step > 0 ? step : 0) + (step < -750 ? step : 0),
          )
        }
      }),
    )
  })

  it('hints the next bytes within a window, and reads from the file itself', async () => {
    const MEBIBYTE = 1024 * 1024
    const sizeBytes = 100 * MEBIBYTE
    const hinted: [number, number][] = []
    const read: number[] = []
    const ahead = readAhead({
      ...noting(file, read),
      stat: { sizeBytes, modifiedMs: 0, version: '1' },
      willRead: (position, length) => hinted.push([position, length]),
    })
    const hintedUpTo = (): number =>
      hinted.reduce((end, [at, length]) => Math.max(end, at + length), 0)
    for (let position = 0; position < sizeBytes; position += MEBIBYTE) {
      await ahead.read(Buffer.alloc(10), position)
      expect(hintedUpTo()).toBeGreaterThan(position)
      expect(hintedUpTo()).toBeLessThanOrEqual(position + 21 * MEBIBYTE)
    }
    const bytes = hinted.reduce((sum, [, length]) => sum + length, 0)
    expect(bytes).toBe(sizeBytes)
    expect(read.length).toBe(100)
    // A jump starts a new window.
    await ahead.read(Buffer.alloc(10), 5 * MEBIBYTE)
    expect(hinted.at(-1)?.[0]).toBe(17 * MEBIBYTE)
  })

  it('reads at once what the system has in memory, and waits for the rest alone', async () => {
    const asked: number[] = []
    const held = 6000
    const ahead = readAhead({
      ...noting(file, asked),
      willRead: () => undefined,
      readCached([buffer = new Uint8Array(0)], position) {
        const bytes = BYTES.subarray(position, Math.min(position + buffer.length, held))
        buffer.set(bytes)
        return bytes.length
      },
    })
    const read = async (position: number, length: number): Promise<Buffer> => {
      const buffer = Buffer.alloc(length)
      return buffer.subarray(0, await ahead.read(buffer, position))
    }
    expect(await read(0, 5000)).toEqual(BYTES.subarray(0, 5000))
    expect(asked).toEqual([])
    expect(await read(5000, 3000)).toEqual(BYTES.subarray(5000, 8000))
    expect(await read(8000, 3000)).toEqual(BYTES.subarray(8000))
    expect(asked).toEqual([held, 8000])
  })

  it('does not try the page cache again soon after a miss', async () => {
    const asked: number[] = []
    const looked: number[] = []
    const ahead = readCached(
      {
        ...noting(file, asked),
        readCached(_, position) {
          looked.push(position)
          return 0
        },
      },
      { missBytes: 3000 },
    )
    const buffer = Buffer.alloc(1000)
    for (let position = 0; position < 5000; position += 1000) await ahead.read(buffer, position)
    expect(asked).toEqual([0, 1000, 2000, 3000, 4000])
    expect(looked).toEqual([0, 3000])
    expect(buffer).toEqual(BYTES.subarray(4000, 5000))
  })

  it('gives the bytes of the file from the memory of the system', async () => {
    const pageCache = await loadPageCache()
    const cached = await new FolderStorage(folder, { pageCache }).open('file')
    try {
      const ahead = readAhead(cached)
      const buffer = Buffer.alloc(BYTES.length + 1)
      expect(await ahead.read(buffer, 0)).toBe(BYTES.length)
      expect(buffer.subarray(0, -1)).toEqual(BYTES)
      expect(await ahead.read(buffer, BYTES.length)).toBe(0)
    } finally {
      await cached.close()
    }
  })

  it('lets other work of the thread have its turn, although all is in memory', async () => {
    const ahead = readAhead({
      ...noting(file, []),
      willRead: () => undefined,
      readCached: ([buffer]) => buffer?.length ?? 0,
    })
    let isHeard = false
    setImmediate(() => {
      isHeard = true
    })
    const buffer = Buffer.alloc(1024 * 1024)
    for (let at = 0; at < 16; at += 1) await ahead.read(buffer, at * buffer.length)
    expect(isHeard).toBe(true)
  })

  it('requests the next chunks once, ahead of the reader, and none after the end', async () => {
    const asked: number[] = []
    const ahead = readAhead(noting(file, asked), OPTIONS)
    const buffer = Buffer.alloc(100)
    await ahead.read(buffer, 0)
    expect(asked).toEqual([0, 700, 1400])
    for (let position = 100; position < BYTES.length; position += 100) {
      await ahead.read(buffer, position)
    }
    expect(asked).toEqual(Array.from({ length: Math.ceil(BYTES.length / 700) }, (_, i) => i * 700))
    expect(await ahead.read(buffer, BYTES.length)).toBe(0)
  })

  it('looks elsewhere without losing what is on its way', async () => {
    const asked: number[] = []
    const ahead = readAhead(noting(file, asked), OPTIONS)
    const buffer = Buffer.alloc(100)
    await ahead.read(buffer, 0)
    await ahead.read(buffer, 9000)
    await ahead.read(buffer, 100)
    expect(asked).toEqual([0, 700, 1400, 9000])
  })

  it('rejects where the read that is needed fails, and only then', async () => {
    const failure = new Error('the disk is gone')
    const ahead = readAhead(
      {
        ...noting(file, []),
        read: (buffer, at) => (at < 700 ? file.read(buffer, at) : Promise.reject(failure)),
      },
      OPTIONS,
    )
    expect(await ahead.read(Buffer.alloc(700), 0)).toBe(700)
    await expect(ahead.read(Buffer.alloc(1), 700)).rejects.toBe(failure)
  })
})

/** The file, with the positions of its reads noted. */
function noting(of: OpenFile, positions: number[]): OpenFile {
  return {
    stat: of.stat,
    read: (buffer, position) => {
      positions.push(position)
      return of.read(buffer, position)
    },
    readv: (buffers, position) => of.readv(buffers, position),
    checkUnchanged: () => of.checkUnchanged(),
    close: () => of.close(),
  }
}

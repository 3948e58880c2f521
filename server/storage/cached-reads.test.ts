// What is read without waiting equals what an ordinary read gives, and nothing is waited for.
import { closeSync, fsyncSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import koffi from 'koffi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadCachedReads } from './cached-reads.ts'
import type { CachedReads } from './cached-reads.ts'

const BYTES = Buffer.from(Uint32Array.from({ length: 750_000 }, (_, i) => i * 2_654_435_761).buffer)
const POSIX_FADV_DONTNEED = 4

let folder: string
let descriptor: number
let read: CachedReads

describe.runIf(platform() === 'linux')('readCached', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'aftercast-cached-'))
    descriptor = openSync(join(folder, 'file'), 'w+')
    writeSync(descriptor, BYTES)
    fsyncSync(descriptor)
    const loaded = await loadCachedReads()
    if (loaded === undefined) throw new Error('this system has no such call')
    read = loaded
  })

  afterAll(() => {
    closeSync(descriptor)
    rmSync(folder, { recursive: true })
  })

  it('fills buffers of any size with what lies at any place', () => {
    const sizes = fc.array(fc.nat(5000), { minLength: 1, maxLength: 1024 })
    fc.assert(
      fc.property(sizes, fc.nat(BYTES.length), (lengths, position) => {
        // Among others: views into one memory, as pieces of a pooled buffer are.
        const shared = Buffer.alloc(lengths.reduce((sum, length) => sum + length, 0))
        let at = 0
        const buffers = lengths.map((length) => shared.subarray(at, (at += length)))
        const count = read(descriptor, buffers, position)
        const expected = BYTES.subarray(position, position + shared.length)
        expect(count).toBe(expected.length)
        expect(shared.subarray(0, count).equals(expected)).toBe(true)
        expect(shared.subarray(count).every((byte) => byte === 0)).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  it('fills what there is room for where there are more buffers than one call takes', () => {
    const buffers = Array.from({ length: 3000 }, () => new Uint8Array(10))
    expect(read(descriptor, buffers, 0)).toBe(10_240)
  })

  it('answers 0 at the end, and for a descriptor that cannot be read', () => {
    expect(read(descriptor, [Buffer.alloc(10)], BYTES.length)).toBe(0)
    expect(read(987_654, [Buffer.alloc(10)], 0)).toBe(0)
    expect(read(descriptor, [], 0)).toBe(0)
  })

  it('does not read what lies on the disk alone', (context) => {
    const forget = koffi.load(null).func('int posix_fadvise(int, int64, int64, int)')
    expect(forget(descriptor, 0, 0, POSIX_FADV_DONTNEED)).toBe(0)
    const buffer = Buffer.alloc(BYTES.length)
    const count = read(descriptor, [buffer], 0)
    context.skip(count === BYTES.length, 'this file system keeps all files in memory')
    expect(count).toBe(0)
    readSync(descriptor, buffer, 0, buffer.length, 0)
    expect(read(descriptor, [buffer], 0)).toBe(BYTES.length)
  })
})

// What is read or sent without waiting equals what an ordinary read gives, and nothing is waited
// for.
import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { platform } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import koffi from 'koffi'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadPageCache } from './page-cache.ts'
import type { PageCache } from './page-cache.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

const BYTES = Buffer.from(Uint32Array.from({ length: 750_000 }, (_, i) => i * 2_654_435_761).buffer)
const POSIX_FADV_DONTNEED = 4

let folder: string
let descriptor: number
let pageCache: PageCache

describe.runIf(platform() === 'linux')('what the page cache holds', () => {
  beforeAll(async () => {
    folder = makeTempFolder('cached')
    descriptor = openSync(join(folder, 'file'), 'w+')
    writeSync(descriptor, BYTES)
    fsyncSync(descriptor)
    const loaded = await loadPageCache()
    if (loaded === undefined) throw new Error('this system has no such call')
    pageCache = loaded
  })

  afterAll(() => closeSync(descriptor))

  /** Repeats reads that stop early: the system may be moving a page at that moment. */
  function readAll(buffers: Uint8Array[], position: number, sizeBytes: number): number {
    let count = 0
    for (let tries = 0; tries < 1000 && count < sizeBytes; tries += 1)
      count = pageCache.read(descriptor, buffers, position)
    return count
  }

  it('fills buffers of any size from any position', () => {
    const sizes = fc.array(fc.nat(5000), { minLength: 1, maxLength: 1024 })
    fc.assert(
      fc.property(sizes, fc.nat(BYTES.length), (lengths, position) => {
        // Among others: views into one memory, like slices of a pooled buffer.
        const shared = Buffer.alloc(lengths.reduce((sum, length) => sum + length, 0))
        let at = 0
        const buffers = lengths.map((length) => shared.subarray(at, (at += length)))
        const expected = BYTES.subarray(position, position + shared.length)
        const count = readAll(buffers, position, expected.length)
        expect(count).toBe(expected.length)
        expect(shared.subarray(0, count).equals(expected)).toBe(true)
        expect(shared.subarray(count).every((byte) => byte === 0)).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  it('fills what there is room for where there are more buffers than one call takes', () => {
    const buffers = Array.from({ length: 3000 }, () => new Uint8Array(10))
    expect(pageCache.read(descriptor, buffers, 0)).toBe(10_240)
  })

  it('returns 0 at the end, and for an unreadable descriptor', () => {
    expect(pageCache.read(descriptor, [Buffer.alloc(10)], BYTES.length)).toBe(0)
    expect(pageCache.read(987_654, [Buffer.alloc(10)], 0)).toBe(0)
    expect(pageCache.read(descriptor, [], 0)).toBe(0)
  })

  it('does not read what is only on disk', (context) => {
    const forget = koffi.load(null).func('int posix_fadvise(int, int64, int64, int)')
    expect(forget(descriptor, 0, 0, POSIX_FADV_DONTNEED)).toBe(0)
    const buffer = Buffer.alloc(BYTES.length)
    const count = pageCache.read(descriptor, [buffer], 0)
    context.skip(count === BYTES.length, 'this file system keeps all files in memory')
    expect(count).toBe(0)
    readSync(descriptor, buffer, 0, buffer.length, 0)
    expect(pageCache.read(descriptor, [buffer], 0)).toBe(BYTES.length)
  })

  describe('sending', () => {
    let server: Server
    let sender: Socket
    let receiver: Socket
    let socket: number

    beforeEach(async () => {
      server = createServer()
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const connected = once(server, 'connection')
      receiver = connect((server.address() as AddressInfo).port, '127.0.0.1')
      ;[sender] = (await connected) as [Socket]
      socket = Reflect.get(Reflect.get(sender, '_handle') as object, 'fd') as number
      receiver.pause()
    })

    afterEach(() => {
      sender.destroy()
      receiver.destroy()
      server.close()
    })

    it('sends from any position to a socket, until it accepts no more', async () => {
      readSync(descriptor, Buffer.alloc(BYTES.length), 0, BYTES.length, 0)
      const position = 12_345
      const length = 1_000_001
      let sent = 0
      while (sent < 50 * length) {
        const at = position + (sent % length)
        const range = { descriptor, position: at, length: length - (sent % length) }
        const count = pageCache.send(range, socket)
        if (count === undefined) throw new Error('is not sent from memory')
        if (count === 0) break
        sent += count
      }
      expect(sent).toBeGreaterThan(0)
      expect(sent).toBeLessThan(50 * length)
      sender.end()
      const received = Buffer.concat(await receiver.toArray())
      const chunk = BYTES.subarray(position, position + length)
      const rounds = Array.from({ length: Math.ceil(sent / length) }, () => chunk)
      expect(received.equals(Buffer.concat(rounds).subarray(0, sent))).toBe(true)
    })

    it('sends nothing where the range is not in memory as a whole', async (context) => {
      expect(
        pageCache.send({ descriptor, position: BYTES.length - 10, length: 9000 }, socket),
      ).toBe(undefined)
      const forget = koffi.load(null).func('int posix_fadvise(int, int64, int64, int)')
      const forgetOnePage = (): void => {
        expect(forget(descriptor, 4096 * 20, 4096, POSIX_FADV_DONTNEED)).toBe(0)
      }
      const readByte = (): number => pageCache.read(descriptor, [Buffer.alloc(1)], 4096 * 20)
      forgetOnePage()
      context.skip(readByte() === 1, 'this file system keeps all files in memory')
      // The check itself makes the system fetch it.
      await expect.poll(readByte).toBe(1)
      forgetOnePage()
      expect(pageCache.send({ descriptor, position: 0, length: 4096 * 40 }, socket)).toBe(undefined)
      expect(pageCache.send({ descriptor, position: 0, length: 4096 * 20 }, socket)).toBe(4096 * 20)
    })

    it('sends from a file in memory, also what is still on its way when that is gone', async () => {
      const file = pageCache.createFile()
      if (file === undefined) throw new Error('no such file was made')
      writeSync(file, BYTES.subarray(0, 200_000))
      expect(pageCache.send({ descriptor: file, position: 10, length: 199_990 }, socket)).toBe(
        199_990,
      )
      ftruncateSync(file)
      closeSync(file)
      sender.end()
      const received = Buffer.concat(await receiver.toArray())
      expect(received.equals(BYTES.subarray(10, 200_000))).toBe(true)
    })

    it('sends nothing to what takes nothing, nor from what is no file', () => {
      const range = { descriptor, position: 0, length: 10 }
      expect(pageCache.send(range, 987_654)).toBe(undefined)
      expect(pageCache.send({ ...range, descriptor: 987_654 }, socket)).toBe(undefined)
    })
  })
})

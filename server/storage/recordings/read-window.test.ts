import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { ReadWindow } from './read-window.ts'

const BYTES = Uint8Array.from({ length: 1000 }, (_, i) => i)

describe('ReadWindow', () => {
  it('holds the bytes read last, and none after the limit', async () => {
    const window = new ReadWindow(bytesFile(BYTES), { limit: 150, readBytes: 100 })
    await window.need(0, 50)
    expect(window.holds(0, 100)).toBe(true)
    expect(window.holds(0, 101)).toBe(false)
    await window.need(90, 50)
    // The memory still has bytes of the first position after these.
    expect(window.bytes.length).toBe(100)
    expect([window.start, window.holds(90, 60), window.holds(90, 61)]).toEqual([90, true, false])
    expect(window.holds(89, 10)).toBe(false)
    expect(window.has(90, 61)).toBe(true)
    expect(window.bytes.subarray(0, 60)).toEqual(BYTES.subarray(90, 150))
  })
})

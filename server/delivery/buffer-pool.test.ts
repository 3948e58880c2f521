// What hundreds of responses at once may hold.
import { describe, expect, it } from 'vitest'
import { BufferPool, BufferLease } from './buffer-pool.ts'

const RESPONSES = 300
const MEBIBYTE = 1024 * 1024

describe('BufferPool', () => {
  it('holds little for hundreds of responses', () => {
    const pool = new BufferPool()
    const buffers = Array.from({ length: RESPONSES }, () => pool.take())
    const cachedBytes = buffers.reduce((sum, { length }) => sum + length, 0)
    expect(cachedBytes).toBeLessThan(120 * MEBIBYTE)
    expect(Math.min(...buffers.map(({ length }) => length))).toBeGreaterThan(0)
  })

  it('lends a buffer again once it was given back', () => {
    const pool = new BufferPool()
    const buffer = pool.take()
    pool.give(buffer)
    expect(pool.take()).toBe(buffer)
  })
})

describe('LentBuffers', () => {
  it('knows its own bytes', () => {
    const lent = new BufferLease(new BufferPool())
    expect(lent.holds(lent.main.subarray(5, 10))).toBe(true)
    expect(lent.holds(lent.extra(100))).toBe(true)
    expect(lent.holds(new Uint8Array(100))).toBe(false)
  })
})
